/**
 * The name under which all variables are found a second time: `contact.email` is the same as
 * `email`, unless a variable is called `contact`.
 */
export const CONTACT = 'contact'

/** The variables of a template. Values are plain JSON and are never parsed as templates. */
export type Variables = {
  /** Values stored with the contact, possibly from an untrusted source: escaped in HTML. */
  stored: Record<string, unknown>
  /**
   * Values of the same request, without their one-shot wrappers: not escaped; they override stored
   * values.
   */
  request: Record<string, unknown>
  /** Values set by Pillarbox (id, email, URLs, locale …): escaped; they override all others. */
  system: Record<string, unknown>
}
