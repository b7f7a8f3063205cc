/** What a template may name. Values are plain JSON; they are never parsed as templates. */
export type Variables = {
  /** Of the contact, whoever wrote them: escaped in HTML. */
  stored: Record<string, unknown>
  /** Of the same request, one-shot wrappers taken off: not escaped, and stronger than stored. */
  request: Record<string, unknown>
  /** Ours (id, email, URLs, locale …): escaped as stored ones are, and stronger than all. */
  system: Record<string, unknown>
}
