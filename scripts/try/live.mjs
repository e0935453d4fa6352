// One task on the person's own logins, by their own CLIs and configuration; the daemon is private and goes away.

export async function live(scene, prompt) {
  const { CMO_STATE_DIR } = scene.env;
  // As the person's own shell, but for the state folder.
  const env = { ...process.env, CMO_STATE_DIR };
  // npm changes to the package's folder; the agent reads where the person is.
  const cwd = process.env.INIT_CWD ?? process.cwd();
  console.log(`This uses your own login and spends from your window. The agent may read ${cwd} and change nothing.\n`);
  const { code } = await scene.cmo(['run', '--human', '--role', 'research'], {
    input: prompt,
    cwd,
    env,
    inherit: true,
  });
  if (code === 4) await scene.cmo(['doctor'], { cwd, env, inherit: true });
  console.log('');
  await scene.cmo(['ls'], { cwd, env, inherit: true });
  return code;
}
