/**
 * The package's version; the suite holds it to package.json. Here, so that no bundle has to find that file at run time.
 */
export const VERSION = '0.1.0';

/** Of the HTTP interface between CLI and daemon: a number, raised when an old client would misread a new daemon. */
export const PROTOCOL = 1;
