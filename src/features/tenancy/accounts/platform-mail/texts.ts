/**
 * The texts of the server's mail to its users in one language. `{server}` is the host of the server,
 * `{email}` the address of the user, `{person}` the address of the user who invites, `{used}` and
 * `{limit}` numbers of emails in a month.
 */
import type { UsageNotice } from '../../../ground/base.ts'

type LinkTexts = { subject: string; text: string; button: string }

/**
 * About a limit of emails in a month. `warning`, `reached`: subjects, at 80% and at 100%. `text` has the
 * numbers; `atLimit` says what happens at 100%. 'shared': all emails together.
 */
export type UsageTexts = {
  warning: string
  reached: string
  text: string
  categories: Record<UsageNotice['category'], string>
  atLimit: Record<UsageNotice['category'], string>
}

export type MailTexts = {
  verify: LinkTexts
  reset: LinkTexts
  invitation: LinkTexts
  /** `reputation`: too many bounces or complaints; `other`: any other reason. */
  disabled: { subject: string; reputation: string; other: string }
  domainLost: { subject: string; text: string }
  usage: UsageTexts
  /** How long a link works. */
  hour: string
  week: string
  /** Below the link, before the link as text. */
  copy: string
  ignore: string
}

export const MAIL_VALUES = [
  'server',
  'email',
  'person',
  'project',
  'domain',
  'category',
  'used',
  'limit',
] as const

/** The values of the placeholders; each text uses some of them. */
export type MailValues = Partial<Record<(typeof MAIL_VALUES)[number], string>>
