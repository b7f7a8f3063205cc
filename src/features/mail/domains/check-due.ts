/**
 * The background check: every 5 minutes it checks each domain that is not trusted, eight at a time,
 * the least recently checked first. Projects alternate, and a run ends in time for the next one: name
 * servers that do not answer take seconds, and a project may have many such domains.
 */
import { MINUTE_MS } from '../../../base/clock.ts'
import { describeError } from '../../../base/errors.ts'
import { and, asc, eq, isNull, lte, or } from '../../../store/drizzle.ts'
import { domains } from '../../../store/schema/domains.ts'
import { alternate } from '../../../turns/alternate.ts'
import type { Base } from '../../ground/base.ts'
import { type CheckDeps, checkDomain } from './check.ts'

/** Less than the 5 minutes between two runs, because a run takes some time itself. */
const DUE_AFTER_MS = 4 * MINUTE_MS
const RUN_MS = 4 * MINUTE_MS
const CONCURRENCY = 8

/** Returns the number of checked domains. A failed check is logged and does not stop the others. */
export async function checkDueDomains(deps: CheckDeps, signal?: AbortSignal): Promise<number> {
  const ids = await listDue(deps)
  const endAt = deps.now() + RUN_MS
  let next = 0
  let checked = 0
  const work = async () => {
    for (let id = ids[next++]; id !== undefined; id = ids[next++]) {
      if (signal?.aborted || deps.now() >= endAt) return
      if (await checkOne(deps, id)) checked += 1
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return checked
}

async function listDue({ store, now }: Pick<Base, 'store' | 'now'>): Promise<string[]> {
  const isDue = or(isNull(domains.checkedAt), lte(domains.checkedAt, now() - DUE_AFTER_MS))
  const rows = await store.scan
    .select({ id: domains.id, projectId: domains.projectId })
    .from(domains)
    .where(and(eq(domains.isTrusted, false), isDue))
    .orderBy(asc(domains.checkedAt), asc(domains.id))
  return alternate(rows, ({ projectId }) => projectId).map(({ id }) => id)
}

async function checkOne(deps: CheckDeps, id: string): Promise<boolean> {
  try {
    const domain = await deps.store.read.select().from(domains).where(eq(domains.id, id)).get()
    return domain !== undefined && (await checkDomain(deps, domain)) !== undefined
  } catch (error) {
    deps.log.error({ id, error: describeError(error) }, 'a domain could not be checked')
    return false
  }
}
