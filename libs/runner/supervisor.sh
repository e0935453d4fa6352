# Owns the CLI of one attempt, and outlives the worker. Run as
#   sh -c TEXT cmo-supervisor FOLDER ATTEMPT SECONDS GRACE UMASK TOOLS CWD COMMAND  LAUNCHER… COMMAND ARGUMENT…
# SECONDS: wall clock of the CLI. GRACE: TERM to KILL, in tenths of a second. UMASK: for the CLI. TOOLS: PATH for this
# script. LAUNCHER: the programs that prepare the CLI's process (supervisor-kind.ts): death signal, signals reset, own
# session.
#
#   (started) --claim linked--> claimed --run.json--> running [--timed-out--> ending] --exit.json--> exited
#
# Processes: this shell; its clock (a subshell and a sleep) in the same group; the CLI, which leads a group and session
# of its own, so that a signal to that group never reaches this shell and a built-in can tell whether any of it is left.
# Built-ins wherever possible, because every other command costs a millisecond or two. Variable names begin with `_`, or
# a variable of the same name in the CLI's environment would change. Text from outside is never put into JSON here; the
# reader of the exit record words the reasons.

_dir=$1 _id=$2 _seconds=$3 _grace=$4 _umask=$5 _tools=$6 _cwd=$7 _command=$8
shift 8
_path_set=${PATH+yes} _path=${PATH-}
PATH=$_tools
umask 077

# Sets _parent, _group and _ticks (start, in clock ticks since boot) of process $1; fails if there is none. A process's
# name may contain brackets, blanks and line ends, so the fields are counted after the last bracket of all lines.
read_stat() {
  _stat='' _parent='' _group='' _ticks=null
  { while read -r _line; do _stat="$_stat $_line"; done <"/proc/$1/stat"; } || return
  set -- ${_stat##*)}
  _parent=${2-} _group=${3-} _ticks=${20:-null}
}

# The CLI's pid and group are ours while it is our child and, after it has exited, while the group has members: the
# kernel reuses no pid that a group still has. A process with that pid and another parent is a stranger.
group_is_there() {
  { ! read_stat "$_cli" || [ "$_parent" = $$ ]; } && kill -s 0 -- "-$_cli"
}

# Sets _tree to the living processes of the CLI's group or session, and those that carry its whole mark in any session.
# Each is listed once, because many programs take a second TERM as "exit at once". It looks at the state because `kill`
# also finds a group of zombies, and process 1 of a container may never reap them.
find_tree() {
  _tree='' _files=''
  group_is_there && _files=$(grep -lsE "\) [^ZX] [0-9]+ ($_cli [0-9]+|[0-9]+ $_cli) " /proc/[0-9]*/stat)
  # The CLI leads no group before its setsid, and carries no mark before its program is loaded.
  [ "$_parent" = $$ ] && _files="/proc/$_cli/stat $_files"
  for _file in $_files $(grep -lszxF "CMO_ATTEMPT=$_id" /proc/[0-9]*/environ); do
    _file=${_file#/proc/}
    case "$_tree " in *" ${_file%/*} "*) ;; *) _tree="$_tree ${_file%/*}" ;; esac
  done
  [ -n "$_tree" ]
}

# Sends TERM, waits for the grace, then sends KILL until nothing is left; bounded, because a process may be stuck in the
# kernel.
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

# Ends the CLI at its deadline. If its shell was killed, the clock does nothing.
run_clock() {
  sleep "$_seconds" || exit
  read_stat self
  [ "$_parent" = $$ ] || exit
  : >"$_dir/timed-out"
  end_tree
}

# Writes the exit record. $1 the exit code as a shell reports it, $2 whether the deadline ended the CLI, $3 why nothing
# was started, or null. Retries, so that a briefly full disk does not cost the record.
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
# This shell signals its own group at the end, so that must not be the caller's group.
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
# Ignore signals only now, or the CLI and the clock would start with them ignored. This shell exits only after its CLI,
# so that even a shutdown that signals everybody leaves an exit record.
trap '' HUP INT QUIT TERM

printf '{"pid":%s,"ticks":%s,"bootId":"%s","cliPid":%s,"cliTicks":%s}\n' $$ "$_own" "$_boot" "$_cli" "$_cli_ticks" >"$_dir/run.tmp"
mv -f "$_dir/run.tmp" "$_dir/run.json"
# A claim that a power cut undoes would allow a second start. Syncing after the start is enough, because a CLI needs far
# longer to do anything than the disk needs for this.
sync "$_dir/claim" "$_dir/run.json" "$_dir"
rm -f "$_dir/claim.$$"

# Signals are ignored, so only the CLI's exit ends this wait, even if a stray process still holds an open pipe.
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

# End what is left of the CLI's group. The tender that delivers ends strays in other sessions.
group_is_there && end_tree
exit 0
