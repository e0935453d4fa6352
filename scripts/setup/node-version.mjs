export const NEEDED_NODE = '20.20.2';

/** Null when this Node is new enough, else what to tell the person. */
export function nodeProblem(version = process.versions.node) {
  const [have, need] = [version, NEEDED_NODE].map((text) => text.split('.').map(Number));
  for (let i = 0; i < need.length; i++) {
    if (have[i] > need[i]) return null;
    if (have[i] < need[i])
      return `Node ${NEEDED_NODE} or newer is needed, this is ${version}: install one (https://nodejs.org, or \`nvm install 20\`) and run this again`;
  }
  return null;
}
