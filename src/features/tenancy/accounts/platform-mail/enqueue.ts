/**
 * Asks for mail to users. The request becomes a job in the transaction of what it reports, so the mail
 * is written if and only if that commits. Links get their tokens when the mail is written: no job holds
 * one.
 */
import { hash } from 'node:crypto'
import { and, inArray, sql } from '../../../../store/drizzle.ts'
import { jobs } from '../../../../store/schema/jobs.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { isUnfinishedJob } from '../../../../work/jobs/due.ts'
import { enqueueJob } from '../../../../work/jobs/enqueue.ts'
import type { UsageNotice } from '../../../ground/base.ts'

export type PlatformMail =
  /** `place`: among the mails that wait for this user; 0 if absent. One mail waits in each place. */
  | { kind: 'verify-email'; userId: string; place?: number }
  /**
   * For any address, so that the time of an answer does not show whether it has an account. One mail
   * waits for each address.
   */
  | { kind: 'reset-password'; address: string }
  | { kind: 'invitation'; invitationId: string }
  /** To all members. */
  | { kind: 'project-disabled'; projectId: string }
  /** To all members. `domain` in A-labels. */
  | { kind: 'domain-lost'; projectId: string; domain: string }
  /** To all members: their project has reached a mark of a limit of its emails in a month. */
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
 * Finds the places below `places` that no job of the user has, and how many of the user's mails are
 * not written yet. A mail that is written but whose job has not ended yet is not counted, because
 * its token counts already.
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
