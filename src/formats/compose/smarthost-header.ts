/**
 * Header fields with which a caller could control the smarthost: change recipients, sender, tracking
 * or account settings (SendGrid, Mandrill, Amazon SES, Mailgun, Postmark, SparkPost, Mailjet, Brevo,
 * SMTP2GO, MailerSend, Elastic Email, Resend, GreenArrow, PowerMTA), or send reports to any address
 * (Sendmail and its descendants). They mean nothing to the recipient. `Disposition-Notification-To` is
 * not among them, because the recipient's mail program handles it.
 */
const NAMES = new Set([
  'x-smtpapi',
  'x-virtual-mta',
  'x-virtualmta',
  'x-job',
  'sender.ip',
  'idempotencykey',
  'errors-to',
  'return-receipt-to',
])
const PREFIXES = [
  'x-mc-',
  'x-ses-',
  'x-mailgun-',
  'x-pm-',
  'x-msys-',
  'x-mj-',
  'x-mailjet-',
  'x-sib-',
  'x-mailin-',
  'x-smtp2go-',
  'x-mailersend-',
  'x-elasticemail-',
  'x-greenarrow-',
  'resend-',
]

/** Returns the fields that may be sent to a smarthost, in the given order. */
export function removeSmarthostHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !steersSmarthost(name)))
}

function steersSmarthost(name: string): boolean {
  const lower = name.toLowerCase()
  return NAMES.has(lower) || PREFIXES.some((prefix) => lower.startsWith(prefix))
}
