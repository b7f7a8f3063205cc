/** The error for a sender whose domain is not verified, the same over HTTP and SMTP. */
import { AppError } from '../../../base/errors.ts'
import { displayDomain } from '../../../formats/address/address.ts'
import { and, eq } from '../../../store/drizzle.ts'
import { domains } from '../../../store/schema/domains.ts'
import type { Tx } from '../../../store/write/transaction.ts'

/** The error names at most this many verified domains. */
const MAX_NAMED_DOMAINS = 3

/**
 * `domain`: the sender's domain, in A-labels. `shown`: the sender's domain as the error names it.
 */
type UnverifiedSender = { projectId: string; domain: string; shown?: string }

/**
 * Makes the error for a sender whose domain the project has not verified. The error names verified
 * domains of the project, and says how to add one.
 */
export async function unverifiedSender(
  reader: Pick<Tx, 'select'>,
  { projectId, domain, shown = displayDomain(domain) }: UnverifiedSender,
): Promise<AppError> {
  const isOfProject = eq(domains.projectId, projectId)
  const rows = await reader
    .select({ domain: domains.domain })
    .from(domains)
    .where(and(isOfProject, eq(domains.isVerified, true)))
    .orderBy(domains.domain)
    .limit(MAX_NAMED_DOMAINS + 1)
  const [added] = await reader
    .select({ id: domains.id })
    .from(domains)
    .where(and(isOfProject, eq(domains.domain, domain)))
    .limit(1)
  const names = rows.slice(0, MAX_NAMED_DOMAINS).map((row) => row.domain)
  const others = rows.length > MAX_NAMED_DOMAINS ? ' and others' : ''
  const verified =
    names.length === 0
      ? 'No domain is verified here.'
      : `Verified here: ${names.join(', ')}${others}.`
  const step =
    added === undefined
      ? `To add one: pillarbox domain add --project ${projectId} ${domain} (or POST /domains).`
      : `${shown} is added, but not verified: pillarbox domain verify ${domain} shows which records are missing (or GET /domains/${added.id}/verify).`
  const text = `The sender domain ${shown} is not verified for this project.`
  return new AppError('FORBIDDEN', text, { suggestion: `${verified} ${step}` })
}
