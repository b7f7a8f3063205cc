/**
 * Limits that several features and the HTTP API share. A limit of one feature is defined in
 * that feature, a limit of messages in `formats/limits.ts`; `http/` imports them.
 */

/** Entries on a page of a list, unless the caller asks for another number. */
export const DEFAULT_PAGE_SIZE = 20
export const MAX_PAGE_SIZE = 100

/** The highest number of a page, in lists that are paged by number. */
export const MAX_PAGE_NUMBER = 1_000_000

/** Characters of a cursor. */
export const MAX_CURSOR_LENGTH = 500

/** Characters of a text to search for. */
export const MAX_SEARCH_LENGTH = 255

/** Characters of the name of a project, template or segment. */
export const MAX_NAME_LENGTH = 100

/** Characters of the description of a template or segment. */
export const MAX_DESCRIPTION_LENGTH = 500

/** Addresses that one request may look up, suppress, or add to a segment. */
export const MAX_ADDRESSES_PER_REQUEST = 500

/** Contacts or templates that one request may name by id. */
export const MAX_IDS_PER_REQUEST = 1_000

/** Contacts that one request may exclude from those that its filter selects. */
export const MAX_EXCLUDED_IDS = 10_000

/** Characters of the name of an event. */
export const MAX_EVENT_NAME_LENGTH = 255
