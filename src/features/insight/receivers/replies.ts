/** The newest replies that a project's own deferred mail got, by recipient domain. */

import type { Base } from '../../ground/base.ts'
import { listLastAttempts } from '../../mail/messages/explain/explain-emails.ts'
import { listDeferredOf } from '../../mail/messages/queue/mail-of-project.ts'
import type { WaitingDomain } from './waiting-domains.ts'

/** `text`: the receiver's words, or the error of an attempt that got no reply. `at`: epoch ms. */
export type OwnReply = {
  code: number | null
  enhancedCode: string | null
  text: string
  at: number
}

/** Looks at a few emails of each domain; a domain whose emails were not tried is left out. */
export async function findReplies(
  { store }: Pick<Base, 'store'>,
  projectId: string,
  domains: readonly WaitingDomain[],
): Promise<Map<string, OwnReply>> {
  const lanes = domains.flatMap(({ domain, deferredClasses }) =>
    deferredClasses.map((queueClass) => ({ queueClass, domain })),
  )
  if (lanes.length === 0) return new Map()
  const emails = await listDeferredOf({ store }, projectId, lanes)
  const domainOf = new Map(emails.map(({ id, domain }) => [id, domain]))
  const ids = JSON.stringify(emails.map(({ id }) => id))
  const attempts = await store.scan.list(listLastAttempts, { ids })
  const replies = new Map<string, OwnReply>()
  for (const { emailId, at, replyCode, enhancedCode, replyText, error } of attempts) {
    const domain = domainOf.get(emailId)
    const text = replyText ?? error
    if (domain === undefined || text === null) continue
    const isNewer = at >= (replies.get(domain)?.at ?? 0)
    if (isNewer) replies.set(domain, { code: replyCode, enhancedCode, text, at })
  }
  return replies
}
