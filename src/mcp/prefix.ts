/** Abstract names are what fixtures and people say; hosts list the tools under this prefix. */
export const PREFIX = "nx_";
