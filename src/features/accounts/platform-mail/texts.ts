/**
 * The texts of the server's mail to its users in one language. `{server}` is the host of the server,
 * `{email}` the address of the user, `{person}` the address of the user who invites.
 */

type LinkTexts = { subject: string; text: string; button: string }

export type MailTexts = {
  verify: LinkTexts
  reset: LinkTexts
  invitation: LinkTexts
  /** `reputation`: too many bounces or complaints; `other`: any other reason. */
  disabled: { subject: string; reputation: string; other: string }
  domainLost: { subject: string; text: string }
  /** How long a link works. */
  hour: string
  week: string
  /** Below the link, before the link as text. */
  copy: string
  ignore: string
}

/** The values of the placeholders; each text uses some of them. */
export type MailValues = Partial<
  Record<'server' | 'email' | 'person' | 'project' | 'domain', string>
>
