/** The name below which the variables stand a second time: `contact.email` is `email`, unless there is a variable of the name. */
export const CONTACT = 'contact'

/** The variables of a template. Values are plain JSON and are never parsed as templates. */
export type Variables = {
  /** Stored with the contact, possibly from an untrusted source: escaped in HTML. */
  stored: Record<string, unknown>
  /** From the same request, one-shot wrappers removed: not escaped; override stored values. */
  request: Record<string, unknown>
  /** Set by Pillarbox (id, email, URLs, locale …): escaped; override all others. */
  system: Record<string, unknown>
}
