/** Tool events of the wire form before 0.44. */
export const LEGACY_TOOLS: Record<string, 'begin' | 'end'> = {
  exec_command_begin: 'begin',
  exec_command_end: 'end',
  patch_apply_begin: 'begin',
  patch_apply_end: 'end',
  mcp_tool_call_begin: 'begin',
  mcp_tool_call_end: 'end',
  web_search_begin: 'begin',
  web_search_end: 'end',
};
