/** Bits of `emails.figures`; the view `campaign_figures` has all of them. */

/** The email counts as unsubscribed. */
export const UNSUBSCRIBED_FIGURE = 64

// Marks, which followers set.

/** The contact unsubscribed by this email. */
export const UNSUBSCRIBED_MARK = 4_096
export const HARD_BOUNCE_MARK = 8_192
/** Refused for the reputation of this server or for the content. */
export const REFUSAL_MARK = 16_384
/** Refused because the sender domain is not authenticated. */
export const AUTHENTICATION_REFUSAL_MARK = 32_768
