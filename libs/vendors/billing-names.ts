/**
 * Names that make a CLI bill another account, or talk to another endpoint, than the subscription of its lane. They
 * never come from a person's shell: a key that leaks into one of 250 children spends real money before anybody looks.
 * The config's `lanes.<id>.env` is the only way to set one.
 */
const NAMES = new Set([
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_BASE_URL',
  'CLAUDE_API_KEY',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
  'CLAUDE_CODE_SKIP_BEDROCK_AUTH',
  'CLAUDE_CODE_SKIP_VERTEX_AUTH',
  'CLAUDE_CODE_SKIP_FOUNDRY_AUTH',
  'CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR',
  'CLAUDE_CODE_API_KEY_HELPER_TTL_MS',
  'CLAUDE_CODE_API_BASE_URL',
  'BEDROCK_BASE_URL',
  'VERTEX_BASE_URL',
  'CLOUD_ML_REGION',
  'GCLOUD_PROJECT',
  'GEMINI_API_KEY',
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'CODEX_API_KEY',
  'CODEX_ACCESS_TOKEN',
  'CODEX_BASE_URL',
  'OPENROUTER_API_KEY',
  'TOGETHER_API_KEY',
  'GROQ_API_KEY',
  'MISTRAL_API_KEY',
  'DEEPSEEK_API_KEY',
  'XAI_API_KEY',
  'FIREWORKS_API_KEY',
  'CEREBRAS_API_KEY',
  'MOONSHOT_API_KEY',
  'ZAI_API_KEY',
  'DASHSCOPE_API_KEY',
  'HF_TOKEN',
  'LITELLM_API_KEY',
  'LITELLM_BASE_URL',
  'OLLAMA_HOST',
]);

const PREFIXES = [
  'ANTHROPIC_',
  'AWS_',
  'AZURE_',
  'OPENAI_',
  'GOOGLE_',
  'OPENROUTER_',
  'VERTEX_',
  'BEDROCK_',
  'CLAUDE_CODE_USE_',
  'VERTEXAI_',
  'COHERE_',
  'PERPLEXITY_',
];
const ENDINGS = /(?:^|_)(?:API_KEY|API_BASE|API_BASE_URL|AUTH_TOKEN)$/;

export function isBillingName(name: string): boolean {
  const upper = name.toUpperCase();
  return NAMES.has(upper) || PREFIXES.some((prefix) => upper.startsWith(prefix)) || ENDINGS.test(upper);
}

/** For tests and docs: the exact names; prefixes and endings catch more. */
export const BILLING_NAMES: readonly string[] = [...NAMES];
