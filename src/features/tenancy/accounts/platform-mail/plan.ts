/**
 * Plans mail of the server to its users, from its mail project: transactional, untracked, and marked as
 * platform mail. The recipients become contacts of that project, unsubscribed unless they
 * subscribed themselves.
 */

import { TRANSACTIONAL_CLASS } from '../../../../base/queue-class.ts'
import { type ParsedAddress, parseAddress } from '../../../../formats/address/address.ts'
import type { User } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import type { AcceptDeps } from '../../../mail/messages/accept/email-drafts.ts'
import { type EmailPlan, planEmails } from '../../../mail/messages/accept/plan.ts'
import { type ComposedMail, composeMail, type ToMessage } from './compose.ts'
import type { UsableSender } from './sender.ts'

export type PlanDeps = AcceptDeps & Pick<Base, 'store' | 'directory' | 'now'>

/** A mail that can be written in a transaction. */
export type PlannedMail = EmailPlan

/**
 * The mails of a job. `prepare` writes further rows in the same transaction; if it returns false,
 * nothing is written.
 */
export type PlannedWork = { plans: PlannedMail[]; prepare?(tx: Tx): Promise<boolean> }

type Letter = {
  recipient: ParsedAddress
  mail: ComposedMail
  /**
   * Whether the recipient asked for the mail. If so, a complaint about other mail does not stop it.
   */
  isAskedFor: boolean
}

type NewMail = {
  to: Pick<User, 'address' | 'language'>
  isAskedFor: boolean
  /** Makes the content; the URL of its link is a path on this server. */
  toMessage: ToMessage
}

/**
 * The content has only placeholders, because their values are not parsed as templates and their
 * links are not rewritten.
 */
const CONTENT = { subject: '{{ subject }}', body: '{{ html }}', text: '{{ text }}' }

/**
 * Plans a mail to one user; no mail if the stored address is no longer valid.
 * @throws AppError FORBIDDEN when the sender's domain is no longer verified
 */
export async function planOne(
  deps: PlanDeps,
  sender: UsableSender,
  { to, isAskedFor, toMessage }: NewMail,
): Promise<PlannedMail[]> {
  const recipient = parseAddress(to.address)
  if (recipient === undefined) return []
  const { baseUrl } = deps.config
  const mail = composeMail({
    language: to.language,
    toMessage: (texts, language) => {
      const { link, values, ...message } = toMessage(texts, language)
      const complete = { ...message, values: { ...values, server: new URL(baseUrl).host } }
      return link === undefined
        ? complete
        : { ...complete, link: { ...link, url: baseUrl + link.url } }
    },
  })
  return [await planMail(deps, sender, { recipient, mail, isAskedFor })]
}

async function planMail(
  deps: PlanDeps,
  { project, from }: UsableSender,
  { recipient, mail, isAskedFor }: Letter,
): Promise<PlannedMail> {
  const { language: locale, ...variables } = mail
  const plan = await planEmails(
    deps,
    {
      project,
      request: {
        ...{ to: [{ address: recipient, name: null }], from, tracking: false, ...CONTENT },
        // Keeps automatic replies away: programs that answer for absent people do not answer this
        // (RFC 3834).
        headers: { 'Auto-Submitted': 'auto-generated' },
      },
      origin: {
        source: 'TRANSACTIONAL',
        class: TRANSACTIONAL_CLASS,
        platform: { ignoresComplaint: isAskedFor, subject: mail.subject },
      },
    },
    deps.now(),
  )
  // The variables serve this mail only; the contact stores none of them.
  return { ...plan, data: { variables: { ...variables, locale }, changes: {} } }
}
