import type { FailureClass } from '#contract';
import type { VendorCli } from './facts.js';

/**
 * The vendors' sentences, as data. Matched on text that went through `plainText` (straight quotes, one dot, one dash,
 * one blank), case-insensitively, in this order: the first that fits decides, so a sentence that denies a limit stands
 * before those that state one. `anytime` ones are the operating system's or the runtime's own cries: they count on
 * stderr even after the agent had begun, where every other line may be its work.
 */
export type FailureText = {
  cli?: VendorCli;
  class: FailureClass;
  pattern: RegExp;
  boxWide?: true;
  anytime?: true;
  since?: string;
};

const LIMIT_END = String.raw`(?=\s*(?:$|[.·,;|:(-]|for |until ))`;
const text = (source: string) => new RegExp(source, 'i');

/** Whole sentences of a spent window, anchored: also what text mode prints on stdout in place of an answer. */
const LIMIT_TEXTS: readonly FailureText[] = [
  {
    cli: 'claude',
    class: 'usage_limit',
    pattern: text(String.raw`^claude (?:ai |max |pro )?usage limit reached${LIMIT_END}`),
    since: '1.0',
  },
  {
    cli: 'claude',
    class: 'usage_limit',
    pattern: text(
      String.raw`^(?:(?:5|five)-hour|session|daily|weekly|monthly|usage|opus(?: \d[\d.]*)?(?: weekly)?|sonnet(?: weekly)?|fable(?: \d)?(?: weekly)?) limit reached${LIMIT_END}`,
    ),
    since: '1.0.9x: "5-hour limit reached"',
  },
  {
    cli: 'claude',
    class: 'usage_limit',
    pattern: text(String.raw`^limit reached ?[·|-] ?resets?\b`),
    since: '2.0.2x, with "/upgrade" behind it',
  },
  {
    cli: 'claude',
    class: 'usage_limit',
    pattern: text(String.raw`^you(?:'ve| have) (?:hit|reached|exceeded) your (?:[\w.'-]+ ){0,5}limit${LIMIT_END}`),
    since: '2.0 "your limit", 2.1 "session", "weekly", "5-hour", "individual spend"',
  },
  {
    cli: 'claude',
    class: 'usage_limit',
    pattern: text(
      String.raw`^you(?:'re| are) (?:now )?out of (?:extra usage|usage credits|credits|messages)${LIMIT_END}`,
    ),
    since: '2.1',
  },
  {
    cli: 'codex',
    class: 'usage_limit',
    pattern: text(
      String.raw`^you(?:'ve| have)? ?(?:hit|reached) (?:usage )?your (?:[\w.'-]+ ){0,4}(?:usage )?limit${LIMIT_END}`,
    ),
    since: '0.19 with its typo, 0.4x on',
  },
  {
    cli: 'codex',
    class: 'usage_limit',
    pattern: text(String.raw`^(?:the )?usage limit (?:has been )?reached${LIMIT_END}`),
    since: '0.1x, raw body',
  },
  {
    cli: 'codex',
    class: 'usage_limit',
    pattern: text(String.raw`^you(?:'ve)? hit your spend(?:ing)? cap\b`),
    since: '0.130',
  },
  {
    cli: 'codex',
    class: 'usage_limit',
    pattern: text(String.raw`^your workspace is out of credits\b`),
    since: '0.120',
  },
  { cli: 'codex', class: 'usage_limit', pattern: text(String.raw`^quota exceeded\. check your plan\b`), since: '0.60' },
  {
    cli: 'codex',
    class: 'usage_limit',
    pattern: text(String.raw`^you exceeded your current quota\b`),
    since: 'API body',
  },
];

/** Sentences of the login, printed on stdout in text mode as well. */
const LOGIN_TEXTS: readonly FailureText[] = [
  {
    cli: 'claude',
    class: 'auth',
    pattern: text(
      String.raw`^(?:not logged in|invalid api key|invalid auth token|oauth token revoked|authentication error) ?(?:·|- ?please run /login)`,
    ),
  },
  {
    cli: 'claude',
    class: 'auth',
    pattern: text(
      String.raw`^(?:please run /login ?·|failed to authenticate\b|oauth (?:access )?token (?:has )?(?:expired|been revoked)|your (?:account|organization) does not have access to claude|your organization has disabled claude|this organization has been disabled)`,
    ),
  },
  { cli: 'claude', class: 'auth', pattern: text(String.raw`^(?:your )?credit balance is too low\b`) },
  {
    cli: 'codex',
    class: 'auth',
    pattern: text(
      String.raw`^(?:not logged in|your access token could not be refreshed|to use codex with your chatgpt plan, upgrade)`,
    ),
  },
];

/**
 * Sentences that take the whole of text mode's stdout when it exits 0: nothing looser may turn an answer into a
 * failure.
 */
export const WHOLE_OUTPUT_TEXTS: readonly FailureText[] = [...LIMIT_TEXTS, ...LOGIN_TEXTS];

/** Sentences that deny a limit, or speak of one and mean something else: they outrank every other evidence. */
export const DENIAL_TEXTS: readonly FailureText[] = [
  { class: 'rate_limit', pattern: text(String.raw`\bnot your usage limit\b`) },
  { cli: 'claude', class: 'model_unavailable', pattern: text(String.raw`\bextra usage is required for\b`) },
  { cli: 'claude', class: 'overloaded', pattern: text(String.raw`\bis experiencing high load\b`) },
];

/** Looked for anywhere in a sentence of the failure channel or a line of a failed start. */
export const FAILURE_TEXTS: readonly FailureText[] = [
  ...DENIAL_TEXTS,
  ...LIMIT_TEXTS,
  {
    cli: 'claude',
    class: 'usage_limit',
    pattern: text(
      String.raw`\b(?:usage|session|weekly|5-hour|opus|sonnet) limit reached\b|\bhit your (?:[\w.'-]+ ){0,5}limit\b|\bout of extra usage\b|\byour limit will reset\b`,
    ),
  },
  {
    cli: 'codex',
    class: 'usage_limit',
    pattern: text(
      String.raw`\b(?:hit (?:usage )?your usage limit|usage[_ ]limit[_ ](?:has been )?(?:reached|exceeded)|insufficient[_ ]quota|exceeded your current quota|out of credits|not enough credits|spend cap|(?:hit|reached|exceeded) (?:its|your|the) (?:[\w'-]+ ){0,2}spend(?:ing)? limit)\b`,
    ),
  },
  ...LOGIN_TEXTS,

  // The box. Disk full first: its line often ends in the name of something else that failed.
  {
    class: 'environment',
    pattern: text(
      String.raw`\bno space left on device\b|\benospc\b|\bdisk quota exceeded\b|\bedquot\b|\bos error (?:28|122)\b`,
    ),
    boxWide: true,
    anytime: true,
  },
  {
    class: 'killed',
    pattern: text(
      String.raw`\bheap out of memory\b|\breached heap limit\b|\bout of memory\b|\boom[- ]?kill|\bstd::bad_alloc\b|\bcannot allocate memory\b`,
    ),
    anytime: true,
  },
  { class: 'environment', pattern: text(String.raw`\bcannot be used with root/sudo privileges\b`) },
  {
    class: 'environment',
    pattern: text(
      String.raw`\bcodex-linux-sandbox was required\b|^(?:error: )?bwrap: |\bsandbox error:|\bno permissions to create a new namespace\b|\blandlock\b.*\b(?:fail|not able|unsupported)|\bseccomp (?:setup|backend) error\b`,
    ),
  },
  {
    class: 'environment',
    pattern: text(
      String.raw`\bcodex_home\b|\bcommand not found\b|\bcannot execute\b|\bexec format error\b|\berror (?:while )?loading shared librar(?:y|ies)\b|\bversion .?glibc|\bread-only file system\b|\berofs\b|\beacces\b|\beperm\b|\bos error (?:1|13|30)\b`,
    ),
  },
  {
    class: 'environment',
    pattern: text(
      String.raw`\bcannot find (?:module|package) '|^(?:\S*/)?env: .*\bno such file\b|\bspawn \S+ enoent\b|\bmissing optional dependency\b|\bunsupported platform\b|\bnative binary not installed\b|\brequires node(?:\.js)?\b`,
    ),
  },
  {
    class: 'environment',
    pattern: text(
      String.raw`\bself[- ]signed certificate\b|\bunable to (?:get (?:local )?issuer certificate|verify the first certificate)\b|\bcertificate (?:has expired|verify failed)\b`,
    ),
  },

  // Ours to fix: the same call fails the same way.
  {
    class: 'deterministic',
    pattern: text(
      String.raw`\b(?:unknown|unrecognized|unexpected|invalid) (?:option|argument|flag|(?:sub)?command|value)\b|\bmissing required argument\b|\brequired arguments were not provided\b|\bthe argument .* cannot be used\b|\brequires --verbose\b|\boption '.*' argument (?:missing|.*\bis invalid)|\btoo many arguments\b|\ba value is required for\b`,
    ),
  },
  {
    class: 'deterministic',
    pattern: text(
      String.raw`\bnot inside a trusted directory\b|\binput exceeds the maximum (?:length|size)\b|\bsession id .* is already in use\b|\bno conversation found with session id\b|\bno rollout found for thread id\b|\bno (?:thread|conversation) with id\b`,
    ),
  },
  {
    class: 'deterministic',
    pattern: text(
      String.raw`\berror loading (?:config|configuration|rules)|\btoml parse error\b|\bfailed to (?:load|parse) (?:config|settings)|\binvalid settings\b|\berror processing settings\b|\binvalid json provided\b|\binvalid mcp config|\bmcp config file not found\b|\bmodel provider .* not found\b`,
    ),
  },
  {
    class: 'deterministic',
    pattern: text(
      String.raw`\binvalid_json_schema\b|\binvalid (?:json )?schema\b|\boutput schema\b.*\b(?:not|fail|invalid)|\bfailed to read output schema\b|--json-schema\b`,
    ),
  },
  // A file of the installation: what we name in argv is known to be there, or was named above.
  { class: 'environment', pattern: text(String.raw`\bno such file or directory \(os error 2\)`) },
  { cli: 'claude', class: 'transient', pattern: text(String.raw`\bconfiguration file at .* is corrupted\b`) },
  {
    cli: 'claude',
    class: 'transient',
    pattern: text(String.raw`\binput must be provided either through stdin\b|\bno stdin data received\b`),
  },
  { cli: 'codex', class: 'transient', pattern: text(String.raw`\bno prompt provided\b`) },

  // The vendor's judgement of the task.
  {
    class: 'content_refused',
    pattern: text(
      String.raw`\bviolates? (?:our|anthropic's|openai's) usage polic|\bappears to violate\b|\bsafeguards flagged\b|\bflagged (?:for|as) (?:possible |potential(?:ly)? )?\w+|\bcontent[_ ](?:filter|policy)(?:_violation)?\b|\bcyber_policy\b|\binvalid_prompt\b|\bunable to respond to this request\b|\bcontent filtering policy\b`,
    ),
  },
  {
    class: 'deterministic',
    pattern: text(
      String.raw`\bprompt is too long\b|\bconversation (?:is )?too long\b|\brequest too large\b|\bcontext[_ ](?:length|window)(?:_| )?(?:exceed|limit)?|\bcontext limit reached\b|\bran out of room\b|\bmax_output_tokens\b|\boutput token maximum\b|\bmaximum number of turns\b|\bmax turns\b|\bbudget (?:exhausted|exceeded)\b|\bexceeded usd budget\b|\btoken budget\b|\bimage (?:poisoning|was too large)\b|\binvalid image\b|\bpdf (?:too large|is password protected|file was not valid)\b|\btool use concurrency issues\b|\bduplicate tool_use id\b`,
    ),
  },

  // The model.
  {
    class: 'model_unavailable',
    pattern: text(
      String.raw`\bissue with the selected model\b|\bmodel_not_found\b|\bmodel[ _']?.{0,80}\b(?:does not exist|not found|is not supported|is not available|not have access to it)\b|\bmodel requires a newer version\b|\binvalid model name\b|\bnot available with the claude \w+ plan\b|\bunsupported model\b`,
    ),
  },
  {
    class: 'overloaded',
    pattern: text(
      String.raw`\bat capacity\b|\bhigh demand\b|\boverloaded(?:_error)?\b|\bserver_is_overloaded\b|\bapi error:? 529\b|\bslow_down\b`,
    ),
  },

  // The login.
  {
    class: 'auth',
    pattern: text(
      String.raw`\bfailed to authenticate\b|\bauthentication_(?:error|failed)\b|\bnot logged in\b|\b(?:please )?run .{0,3}(?:/login|claude (?:auth )?login|codex login)\b|\bcould not be refreshed\b|\brefresh token\b|\btoken (?:has )?(?:expired|been revoked)\b|\bsign(?:ing)? in again\b|\binvalid (?:api key|bearer token|authentication)\b|\bincorrect api key\b|\binvalid_api_key\b|\bunauthorized\b|\bforbidden\b|\bpermission_error\b|\bmissing (?:bearer|environment variable)\b|\borganization has been disabled\b|\byour account has been (?:disabled|suspended|banned|deactivated|locked)\b|\bcredit balance is too low\b|\bbilling_error\b|\bupgrade to plus: `,
    ),
  },

  // Short throttles.
  {
    class: 'rate_limit',
    pattern: text(
      String.raw`\b(?:rate[_ -]limit(?:ed|s|_error|_exceeded)?|too many requests|request rejected \(429\))(?![a-z])|\b(?:status|api error|error):? 429\b`,
    ),
  },

  // The way there.
  {
    class: 'transient',
    pattern: text(
      String.raw`\b(?:econnreset|econnrefused|econnaborted|etimedout|epipe|eai_again|enotfound|enetunreach|ehostunreach|enetdown|emfile|enfile|und_err\w*)\b|\bgetaddrinfo\b|\bsocket hang up\b|\bfetch failed\b|\b(?:network|connection|transport|tls|dns) (?:error|failed|failure|closed|reset|refused|was lost)\b|\bstream (?:disconnected|error|closed)\b|\brequest timed out\b|\bidle timeout\b|\berror sending request\b|\bconnection error\b|\btoo many open files\b|\bresource temporarily unavailable\b`,
    ),
  },
  {
    class: 'transient',
    pattern: text(
      String.raw`\binternal server error\b|\bapi_error\b|\bserver_error\b|\bbad gateway\b|\bservice unavailable\b|\bgateway time-?out\b|\b(?:status|api error|error):? 5\d\d\b|\bpanicked at\b|\bagent loop died\b`,
    ),
  },
  {
    class: 'deterministic',
    pattern: text(
      String.raw`\binvalid_request_error\b|\bbad request\b|\binvalid_value\b|\bapi error:? 4(?:00|13|22)\b|\bunsupported operation\b`,
    ),
  },
  {
    class: 'killed',
    pattern: text(
      String.raw`\binterrupted \(ctrl-c\)|\bturn (?:was )?aborted\b|^(?:killed|terminated|aborted)(?: \(core dumped\))?$|\bsegmentation fault\b|\brequest was aborted\b`,
    ),
  },
];

/** Lines of the CLIs' own logs and notices beside which the cause stands, if there is one. */
export const NOISE_LINE =
  /^(?:reading (?:prompt|additional input) from stdin|warn(?:ing)?\b[:\s]|\S+T\S+Z?\s+(?:trace|debug|info|warn)\b|\[?(?:trace|debug|info|warn)\b|npm (?:notice|warn)|hook: |mcp (?:client|startup|server)\b|mcp: |at (?:async |new )?(?:[\w$.<>]+(?: \[as [^\]]+\])?(?: \(|$)|(?:file|node):|\/)|node\.js v\d|deprecationwarning|\(node:\d+\)|\(use `node )/i;

export function textClass(sentence: string, cli: VendorCli, texts: readonly FailureText[]): FailureText | null {
  return texts.find((entry) => (entry.cli === undefined || entry.cli === cli) && entry.pattern.test(sentence)) ?? null;
}
