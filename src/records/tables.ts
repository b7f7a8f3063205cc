/**
 * The columns of the text tables that commands print, one list of columns for each kind of record.
 * This file loads no schemas.
 */
import type { DomainRecord } from './domain.ts'
import type { ListedMember } from './member.ts'
import type { ListedServerProject, ServerProject } from './project.ts'
import type { SecurityCounts } from './security.ts'
import type { ListedSuppression } from './suppression.ts'
import type { ListedUser } from './user.ts'

export type Column<Row> = {
  head: string
  textOf(row: Row): string
  /** The maximum number of characters that are shown; absent: all. */
  maxLength?: number
}

const DOMAIN_WORDS: Partial<Record<DomainRecord['status'], string>> = {
  TemporaryFailure: 'DNS did not answer',
}

/** The state of a domain's verification, in words. */
export function domainState({ verified, trusted, status }: DomainRecord): string {
  if (trusted) return 'trusted'
  return verified ? 'verified' : `not verified (${DOMAIN_WORDS[status] ?? status})`
}

export const DOMAIN_COLUMNS: readonly Column<DomainRecord>[] = [
  { head: 'ID', textOf: ({ id }) => id },
  { head: 'DOMAIN', textOf: ({ domain }) => domain },
  { head: 'STATE', textOf: domainState },
  { head: 'PROJECT', textOf: ({ projectId }) => projectId },
]

export const MEMBER_COLUMNS: readonly Column<ListedMember>[] = [
  { head: 'ID', textOf: ({ userId }) => userId },
  { head: 'EMAIL', textOf: ({ email }) => email },
  { head: 'ROLE', textOf: ({ role }) => role },
  { head: 'SINCE', textOf: dayOfCreation },
  { head: '', textOf: ({ emailVerified }) => (emailVerified ? '' : 'unverified') },
]

export const PROJECT_COLUMNS: readonly Column<ListedServerProject>[] = [
  { head: 'ID', textOf: ({ id }) => id },
  { head: 'NAME', textOf: ({ name }) => name },
  { head: 'OWNER', textOf: ({ owner }) => owner ?? '' },
  { head: 'TRACKING', textOf: ({ tracking }) => tracking },
  { head: 'LANGUAGE', textOf: ({ language }) => language },
  { head: 'SINCE', textOf: dayOfCreation },
  { head: '', textOf: projectStanding },
]

/** The note on a disabled project; empty for an enabled project. */
export function projectStanding({ disabled, disabledReason }: ServerProject): string {
  return disabled ? `disabled: ${disabledReason ?? 'MANUAL'}` : ''
}

/** The columns of the counts of mail, with a row for each window of time. */
export const SECURITY_COLUMNS: readonly Column<{ name: string; counts: SecurityCounts }>[] = [
  { head: '', textOf: ({ name }) => name },
  { head: 'EMAILS', textOf: ({ counts }) => String(counts.total) },
  { head: 'HARD BOUNCES', textOf: ({ counts }) => withRate(counts.bounces, counts.bounceRate) },
  { head: 'COMPLAINTS', textOf: ({ counts }) => withRate(counts.complaints, counts.complaintRate) },
]

function withRate(count: number, rate: number): string {
  return count === 0 ? '0' : `${count} (${rate}%)`
}

const ADDRESS_COLUMNS: readonly Column<ListedSuppression>[] = [
  { head: 'ADDRESS', textOf: ({ email }) => email },
  { head: 'REASON', textOf: ({ reason }) => reason },
  { head: 'SINCE', textOf: ({ createdAt }) => createdAt },
  { head: 'SOURCE', textOf: ({ source }) => source, maxLength: 60 },
]

/** `isOfEvery`: the list has the suppressions of all projects. */
export function suppressionColumns(isOfEvery: boolean): readonly Column<ListedSuppression>[] {
  if (!isOfEvery) return ADDRESS_COLUMNS
  return [...ADDRESS_COLUMNS, { head: 'PROJECT', textOf: ({ projectId = '' }) => projectId }]
}

export const USER_COLUMNS: readonly Column<ListedUser>[] = [
  { head: 'ID', textOf: ({ id }) => id },
  { head: 'EMAIL', textOf: ({ email }) => email },
  { head: 'METHOD', textOf: ({ method }) => method },
  { head: 'SINCE', textOf: dayOfCreation },
  { head: '', textOf: notesOnUser },
]

function notesOnUser(user: ListedUser): string {
  const { isOperator, emailVerified, onlyProjectId, twoFactor, isSandbox } = user
  const notes = [
    isOperator && 'operator',
    !emailVerified && 'unverified',
    onlyProjectId !== null && `only in project ${onlyProjectId}`,
    twoFactor && 'second factor',
    isSandbox && 'created by the sandbox',
  ]
  return notes.filter((note) => note !== false).join(', ')
}

function dayOfCreation({ createdAt }: { createdAt: string }): string {
  return createdAt.slice(0, 10)
}
