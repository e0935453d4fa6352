/** Flags of a Node process that holds little. */
export const SMALL_NODE = ['--max-old-space-size=32', '--max-semi-space-size=1', '--v8-pool-size=0'];
