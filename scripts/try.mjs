// `npm run try`: cmo at work on a private daemon in a temp folder, at no cost. `-- --live "prompt"` sends one task to
// the person's own subscription instead. Everything that was started is ended again, also on Ctrl-C.
import { say } from './setup/command.mjs';
import { live } from './try/live.mjs';
import { printNext, printWrong } from './try/report.mjs';
import { openScene } from './try/scene.mjs';
import { tour } from './try/tour.mjs';

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

export async function main(args) {
  const [flag, prompt, ...rest] = args;
  if (args.length > 0 && !(flag === '--live' && prompt?.trim() && rest.length === 0)) {
    say(
      'usage: npm run try                       a look around that spends nothing\n       npm run try -- --live "prompt"    one task on your own subscription',
    );
    return 2;
  }
  const scene = openScene();
  for (const [name, code] of Object.entries(SIGNALS)) {
    process.once(name, () => {
      say('\nending what was started');
      void scene.close().then(() => process.exit(code));
    });
  }
  try {
    if (flag === '--live') return await live(scene, prompt);
    const wrong = await tour(scene);
    printWrong(wrong);
    if (wrong.length > 0) return 1;
    printNext();
    return 0;
  } catch (error) {
    say(`the try stopped: ${error.message}`);
    return 1;
  } finally {
    await scene.close();
  }
}
