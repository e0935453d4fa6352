# Owns the CLI of one attempt; outlives the worker. Run as
#   sh -c TEXT cmo-supervisor FOLDER ATTEMPT SECONDS GRACE UMASK TOOLS CWD COMMAND  LAUNCHER… COMMAND ARGUMENT…
# SECONDS: wall clock of the CLI. GRACE: TERM to KILL, in tenths of a second. UMASK: the CLI's. TOOLS: PATH of this
# script. LAUNCHER: the programs that prepare the CLI's process
# (supervisor-kind.ts): death signal, signals reset, own session.
#
#   (started) --claim linked--> claimed --run.json--> running [--timed-out--> ending] --exit.json--> exited
#
# Processes: this shell; its clock (a subshell and a sleep) in the same group; the CLI, which leads a group and a
# session of its own: a signal to that group never meets this shell, and whether something is left of it is a question
# to a built-in. Built-ins wherever possible, since every other command costs a millisecond or two. Names begin with
# `_`: a variable of the CLI's environment that had the name of one of ours would be changed on its way through. Text
# from outside is never put into JSON here; the reader puts reasons into words.

_dir=$1 _id=$2 _seconds=$3 _grace=$4 _umask=$5 _tools=$6 _cwd=$7 _command=$8
shift 8
_path_set=${PATH+yes} _path=${PATH-}
PATH=$_tools
umask 077

# Sets _parent, _group and _ticks (start, clock ticks since boot) of process $1; fails when there is none. A process may
# have brackets, blanks and line ends in its name, so fields are counted behind the last bracket of all lines.
read_stat() {
  _stat='' _parent='' _group='' _ticks=null
  { while read -r _line; do _stat="$_stat $_line"; done <"/proc/$1/stat"; } || return
  set -- ${_stat##*)}
  _parent=${2-} _group=${3-} _ticks=${20:-null}
}

# The CLI's pid and group are ours while it is our child, and after it has left while the group has members: no pid is
# given out again while a group bears it. A process of that pid with another parent is a stranger.
group_is_there() {
  { ! read_stat "$_cli" || [ "$_parent" = $$ ]; } && kill -s 0 -- "-$_cli"
}

# Sets _tree to the living processes of the CLI's group or session and those that carry its mark, in whatever session
# (whole entries only), each once: a second TERM means "at once" to many programs. A group of zombies is still there for
# `kill`, and process 1 of a container may never reap, so the state counts.
find_tree() {
  _tree='' _files=''
  group_is_there && _files=$(grep -lsE "\) [^ZX] [0-9]+ ($_cli [0-9]+|[0-9]+ $_cli) " /proc/[0-9]*/stat)
  # Before its setsid it leads no group, and before its program is loaded it has no mark.
  [ "$_parent" = $$ ] && _files="/proc/$_cli/stat $_files"
  for _file in $_files $(grep -lszxF "CMO_ATTEMPT=$_id" /proc/[0-9]*/environ); do
    _file=${_file#/proc/}
    case "$_tree " in *" ${_file%/*} "*) ;; *) _tree="$_tree ${_file%/*}" ;; esac
  done
  [ -n "$_tree" ]
}

# TERM, grace, KILL until nothing is seen; bounded, for what is stuck in the kernel.
end_tree() {
  find_tree && kill -s TERM $_tree
  _turn=0
  while [ $_turn -lt "$_grace" ] && find_tree; do sleep 0.1; _turn=$((_turn + 1)); done
  _turn=0
  while [ $_turn -lt 20 ] && find_tree; do
    group_is_there && kill -s KILL -- "-$_cli"
    kill -s KILL $_tree
    sleep 0.1
    _turn=$((_turn + 1))
  done
}

# A clock whose shell was killed touches nothing.
run_clock() {
  sleep "$_seconds" || exit
  read_stat self
  [ "$_parent" = $$ ] || exit
  : >"$_dir/timed-out"
  end_tree
}

# $1 exit code as a shell says it, $2 whether the deadline ended it, $3 why nothing was started, or null. A disk that is
# full for a moment must not cost the record.
write_exit() {
  _turn=0
  until printf '{"code":%s,"timedOut":%s,"spawnError":%s}\n' "$1" "$2" "$3" >"$_dir/exit.tmp"; do
    [ $_turn -lt 30 ] || exit 95
    sleep 1
    _turn=$((_turn + 1))
  done
  sync "$_dir/exit.tmp"
  mv -f "$_dir/exit.tmp" "$_dir/exit.json"
}

read -r _boot </proc/sys/kernel/random/boot_id
read_stat $$
# It signals its group at the end: that must not be the caller's.
[ "$_group" = $$ ] || exit 98
_own=$_ticks
printf '{"pid":%s,"ticks":%s,"bootId":"%s"}\n' $$ "$_own" "$_boot" >"$_dir/claim.$$" || exit 96
ln "$_dir/claim.$$" "$_dir/claim" || { rm -f "$_dir/claim.$$"; exit 97; }

[ -d "$_cwd" ] && [ -x "$_cwd" ] || { write_exit 127 false '"cwd"'; exit 0; }
[ -f "$_command" ] && [ -x "$_command" ] || { write_exit 127 false '"command"'; exit 0; }

(
  cd -- "$_cwd" || exit 127
  umask "$_umask"
  if [ -n "$_path_set" ]; then PATH=$_path; else unset PATH; fi
  unset CMO_SUP OLDPWD
  export CMO_ATTEMPT="$_id"
  exec "$@"
) <"$_dir/prompt" >"$_dir/out" 2>"$_dir/err" &
_cli=$!
read_stat "$_cli"
_cli_ticks=$_ticks
run_clock &
_clock=$!
# Only now, so that neither of the two starts with signals ignored. This shell leaves when its CLI has left, not before:
# a shutdown that signals everybody still gets its exit record.
trap '' HUP INT QUIT TERM

printf '{"pid":%s,"ticks":%s,"bootId":"%s","cliPid":%s,"cliTicks":%s}\n' $$ "$_own" "$_boot" "$_cli" "$_cli_ticks" >"$_dir/run.tmp"
mv -f "$_dir/run.tmp" "$_dir/run.json"
# After the start and not before: a CLI needs far longer to do anything than the disk needs for this. A claim that a
# power cut takes back would be a second start.
sync "$_dir/claim" "$_dir/run.json" "$_dir"
rm -f "$_dir/claim.$$"

# Signals are ignored, so nothing but the CLI's exit ends this. An open pipe that a stray holds doesn't matter.
wait "$_cli"
_code=$?
if [ -e "$_dir/timed-out" ]; then
  _timed_out=true
  wait "$_clock"
else
  _timed_out=false
  kill -s TERM 0
fi

_why=null
case $_code in
  126 | 127)
    read -r _line <"$_dir/err"
    case $_line in cmo-supervisor:* | *setpriv:\ * | *setsid:\ * | *env:\ *) _why='"exec"' ;; esac
    ;;
esac
write_exit "$_code" "$_timed_out" "$_why"

# Strays of its group. Those in sessions of their own are ended by whoever delivers.
group_is_there && end_tree
exit 0
