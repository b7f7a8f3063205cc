/**
 * The texts of the hosted pages in one language. `{project}` and `{email}` stand for the name of
 * the project and the contact's address. Marketing mail is called "newsletters and offers":
 * messages that people requested, such as receipts, are still sent, and no page may claim
 * otherwise.
 */

export type PageTexts = {
  unsubscribe: { title: string; ask: string; button: string }
  unsubscribed: { title: string; text: string; note: string; again: string }
  subscribe: { title: string; ask: string; button: string }
  subscribed: { title: string; text: string }
  manage: { title: string; link: string; what: string; on: string; off: string }
  /** Shown when the address is on the suppression list, whether subscribed or not. */
  suppressed: string
  notFound: { title: string; text: string }
  failed: { title: string; text: string }
}
