/**
 * Limits of messages that the HTTP API, the command line, SMTP submission and the message writer
 * share.
 */

/** Octets of a line without its CRLF (RFC 5322 section 2.1.1). */
export const MAX_LINE_OCTETS = 998

/** Columns of a line that is folded or encoded (RFC 2045 section 6.8, RFC 2047 section 2). */
export const LINE_WIDTH = 76

/** Octets of a header section that Pillarbox reads; far more than mail programs write. */
export const MAX_HEADER_BYTES = 256 * 1024

/** Octets of an address in SMTP, without its brackets (RFC 5321 section 4.5.3.1.3). */
export const MAX_PATH_OCTETS = 254

/** Characters of a subject, both as a template and as rendered. */
export const MAX_SUBJECT_LENGTH = 998

/** Characters of a mailbox's display name. */
export const MAX_DISPLAY_NAME_LENGTH = 998

/** Header fields that a caller may add to one message. */
export const MAX_EXTRA_HEADERS = 50

/** Characters of the name of a field that a caller adds. */
export const MAX_HEADER_NAME_LENGTH = 255

/** Characters of the value of a field that a caller adds. */
export const MAX_EXTRA_HEADER_VALUE_LENGTH = 998

/** Characters of a message id or content id that Pillarbox writes, without its angle brackets. */
export const MAX_WRITTEN_ID_LENGTH = 900

/**
 * Characters of an address that is shown or stored as it was given: 64, `@` and 255 (RFC 3696
 * section 3).
 */
export const MAX_SHOWN_ADDRESS_LENGTH = 320

/**
 * Characters of an attachment's filename; the same limit holds for its content type and for its
 * content id.
 */
export const MAX_ATTACHMENT_FIELD_LENGTH = 255

/** Characters of Markdown; `html/markdown-to-html.ts` limits what a hostile text costs. */
export const MAX_MARKDOWN_LENGTH = 256 * 1024

/** Characters of To, and also of Cc, in a submitted message. */
export const MAX_RECIPIENT_FIELD_LENGTH = 64 * 1024
