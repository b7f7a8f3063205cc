/** The texts of the pages that mail to users links to, in one language. */
export type AccountTexts = {
  verify: { title: string; ask: string; button: string }
  verified: { title: string; text: string }
  /** `rule`: the length of a password, as a hint and as an error. */
  reset: { title: string; label: string; rule: string; button: string }
  changed: { title: string; text: string }
  /** For a link that is unknown, used or too old. */
  expired: { title: string; text: string }
}
