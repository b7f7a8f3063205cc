/**
 * Requests mail to users. The request is a job in the transaction of the change that the mail
 * reports, so the mail is written if and only if the change commits. The tokens of links are made
 * when the mail is written, so no job holds a token.
 */
import { hash } from 'node:crypto'
import { and, inArray, sql } from '../../../../store/drizzle.ts'
import { jobs } from '../../../../store/schema/jobs.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { isUnfinishedJob } from '../../../../work/jobs/due.ts'
import { enqueueJob } from '../../../../work/jobs/enqueue.ts'
import type { UsageNotice } from '../../../ground/base.ts'

export type PlatformMail =
  /**
   * `place`: a number that distinguishes the mails that wait for this user; 0 if absent. One mail
   * waits in each place.
   */
  | { kind: 'verify-email'; userId: string; place?: number }
  /**
   * A mail to any address. Whether the address has an account is looked up later, so that the time
   * of an answer does not show it. One mail waits for each address.
   */
  | { kind: 'reset-password'; address: string }
  | { kind: 'invitation'; invitationId: string }
  /** A mail to all members of the project. */
  | { kind: 'project-disabled'; projectId: string }
  /** A mail to all members of the project. `domain`: in A-labels. */
  | { kind: 'domain-lost'; projectId: string; domain: string }
  /**
   * A mail to all members of the project, which has reached 80% or 100% of a limit of emails in a
   * month.
   */
  | ({ kind: 'usage-limit' } & UsageNotice)

export const PLATFORM_MAIL_KIND = 'platform-mail'

/** Notify `jobNotifier` after the commit, so that the mail is written at once. */
export async function enqueuePlatformMail(tx: Tx, mail: PlatformMail, at: number): Promise<void> {
  const uniqueKey = uniqueKeyOf(mail)
  const job = { kind: PLATFORM_MAIL_KIND, payload: mail, now: at }
  await enqueueJob(tx, uniqueKey === undefined ? job : { ...job, uniqueKey })
}

const isWritten = sql<number>`exists (select 1 from job_progress where job_id = jobs.id)`

/**
 * Finds which of the places below `places` are free, because no job of the user has them, and how
 * many mails of the user are not written yet. A written mail whose job has not ended does not
 * count, because its token counts already.
 */
export async function findPlaces(
  tx: Tx,
  userId: string,
  places: number,
): Promise<{ free: number[]; unwritten: number }> {
  const all = Array.from({ length: places }, (_, place) => place)
  const keys = all.map((place) => verificationKey(userId, place))
  const taken = await tx
    .select({ key: jobs.uniqueKey, isWritten })
    .from(jobs)
    .where(and(inArray(jobs.uniqueKey, keys), isUnfinishedJob))
  const names = new Set(taken.map(({ key }) => key))
  const free = all.filter((_, place) => !names.has(keys[place] ?? ''))
  return { free, unwritten: taken.filter((one) => one.isWritten === 0).length }
}

function uniqueKeyOf(mail: PlatformMail): string | undefined {
  if (mail.kind === 'verify-email') return verificationKey(mail.userId, mail.place ?? 0)
  if (mail.kind === 'reset-password') return `reset-password ${hash('sha256', mail.address)}`
  return undefined
}

function verificationKey(userId: string, place: number): string {
  return `verify-email ${userId} ${place}`
}
