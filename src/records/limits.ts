/**
 * Limits that records and features share; a browser may import them. A limit that stands in no
 * record is defined in its feature, and a limit of messages in `formats/limits.ts`.
 */

/** Entries on a page of a list, unless the caller asks for another number. */
export const DEFAULT_PAGE_SIZE = 20
export const MAX_PAGE_SIZE = 100

/** The highest page number, in lists with numbered pages. */
export const MAX_PAGE_NUMBER = 1_000_000

/** Characters of a cursor. */
export const MAX_CURSOR_LENGTH = 500

/**
 * Characters of a cursor that may hold an address. An address has up to 254 octets in its shortest
 * form, and more in others.
 */
export const MAX_ADDRESS_CURSOR_LENGTH = 2_000

/** Characters of a text to search for. */
export const MAX_SEARCH_LENGTH = 255

/** Records that a search over all kinds returns. */
export const MAX_SEARCH_RESULTS = 20

/** Receivers of waiting mail that a project is shown, and recipient domains of each. */
export const MAX_RECEIVERS = 20
export const MAX_RECEIVER_DOMAINS = 3

/** Characters of the reply of a receiver; a longer one is cut. */
export const MAX_RECEIVER_REPLY_LENGTH = 500

/** Characters of the name of a project, template or segment. */
export const MAX_NAME_LENGTH = 100

/** Characters of the sender's name in a template. */
export const MAX_FROM_NAME_LENGTH = 100

/** The highest `maxPerHour` of a campaign. */
export const MAX_PER_HOUR = 10_000_000

/** Characters of the description of a template or segment. */
export const MAX_DESCRIPTION_LENGTH = 500

/** Addresses that one request may look up, suppress, or add to a segment. */
export const MAX_ADDRESSES_PER_REQUEST = 500

/** Addresses that one test of a campaign, a template or a text goes to. */
export const MAX_TEST_ADDRESSES = 10

/** Characters of the label of a job, of the path that shows it, and of the reason why it failed. */
export const MAX_JOB_LABEL_LENGTH = 300
export const MAX_JOB_PATH_LENGTH = 300
export const MAX_JOB_REASON_LENGTH = 2_000

/** Contacts or templates that one request may name by id. */
export const MAX_IDS_PER_REQUEST = 1_000

/** Bytes of a CSV file that is imported. */
export const MAX_IMPORT_BYTES = 5 * 1024 * 1024

/** Columns of such a file. */
export const MAX_CSV_COLUMNS = 1_000

/** Bytes of an image that is uploaded. */
export const MAX_UPLOAD_BYTES = 10 * 1024 * 1024

/** Contacts that one request may exclude from the contacts that its filter selects. */
export const MAX_EXCLUDED_IDS = 10_000

/** Characters of the name of an event. */
export const MAX_EVENT_NAME_LENGTH = 255

/** Levels of a condition, filters of a whole condition, and values of one `in` or `notIn`. */
export const MAX_CONDITION_DEPTH = 32
export const MAX_CONDITION_FILTERS = 500
export const MAX_FILTER_VALUES = 500

/** Minimum and maximum characters of a password. */
export const MIN_PASSWORD_LENGTH = 6
export const MAX_PASSWORD_LENGTH = 1_000

/** Characters of a code of the second factor, or of a recovery code. */
export const MAX_CODE_LENGTH = 40

/** Characters of the token of a mailed link. */
export const LINK_TOKEN_LENGTH = 64

/** Characters of a text that is taken as the token of a link to set the server up. */
export const MAX_SETUP_TOKEN_LENGTH = 1_000

/** Characters of the postal address in the footer of marketing mail. */
export const MAX_POSTAL_ADDRESS_LENGTH = 250

/** The highest billing limit of a project, in emails a month. */
export const MAX_BILLING_LIMIT = 1_000_000_000

/** Days of a range of analytics: of a range without bounds, and of the longest range. */
export const DEFAULT_RANGE_DAYS = 30
export const MAX_RANGE_DAYS = 90
