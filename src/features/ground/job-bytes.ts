import { octets } from '../../store/dialect.ts'
import { eq, sql } from '../../store/drizzle.ts'
import { jobs } from '../../store/schema/jobs.ts'
import type { Base } from './base.ts'

/** The octets of the parameters and the result of a job, as JSON; 0 without the job. */
export async function findJobBytes({ store }: Pick<Base, 'store'>, id: string): Promise<number> {
  const bytes = sql<number>`${octets(jobs.payload)} + coalesce(${octets(jobs.result)}, 0)`
  const job = await store.read.select({ bytes }).from(jobs).where(eq(jobs.id, id)).get()
  return job?.bytes ?? 0
}
