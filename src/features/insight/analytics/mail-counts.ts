/** The counts of emails in each row of `mail_counts`. */
import type { mailCounts } from '../../../store/schema/analytics.ts'

export const MAIL_COUNTS = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'openedAndClicked',
  'hardBounced',
  'softBounced',
  'complained',
  'unsubscribed',
] as const satisfies readonly (keyof typeof mailCounts.$inferSelect)[]

export type MailCount = (typeof MAIL_COUNTS)[number]
export type MailCounts = Record<MailCount, number>

export const NO_MAIL: Readonly<MailCounts> = eachCount(() => 0)

export function addMail(one: Readonly<MailCounts>, other: Readonly<MailCounts>): MailCounts {
  return eachCount((name) => one[name] + other[name])
}

export function eachCount<Value>(make: (name: MailCount) => Value): Record<MailCount, Value> {
  const entries = MAIL_COUNTS.map((name) => [name, make(name)])
  return Object.fromEntries(entries) as Record<MailCount, Value>
}
