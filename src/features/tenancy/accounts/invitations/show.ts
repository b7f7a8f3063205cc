/** Finds what the page of an invitation shows to its reader. */
import type { GivenRole } from '../../../../records/member.ts'
import { and, eq, isNotNull, isNull } from '../../../../store/drizzle.ts'
import { invitations, memberships, projects } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import type { SessionUser } from '../callers/caller.ts'
import { digestLinkToken } from '../links/link-tokens.ts'
import { boundProjectOf } from '../users/proof.ts'
import { findUserId } from '../users/users.ts'
import { findOpenInvitation, type OpenInvitation } from './open.ts'

/**
 * Who reads the page. `invited`: a user logged in with the invited address. `bound`: the same, but
 * the account may not join another project yet. `other`: a user logged in with another address.
 * `known`: not logged in, and the address has an account. `newcomer`: not logged in, and the
 * address has no account.
 */
type Reader = 'invited' | 'bound' | 'other' | 'known' | 'newcomer'

export type ShownInvitation =
  | {
      state: 'open'
      projectName: string
      isProjectDisabled: boolean
      address: string
      role: GivenRole
      inviterAddress: string
      reader: Reader
    }
  | { state: 'accepted'; projectName: string; address: string }

type ReadingUser = Pick<SessionUser, 'id' | 'address' | 'verifiedAt' | 'onlyProjectId'> | undefined

/** Undefined for an invitation that is not open, unless this user has accepted it. */
export async function findInvitationView(
  { store, now }: Pick<Base, 'store' | 'now'>,
  token: string,
  user: ReadingUser,
): Promise<ShownInvitation | undefined> {
  const open = await findOpenInvitation(store.read, token, now())
  if (open === undefined) return user && findAccepted(store, token, user)
  const { projectName, isProjectDisabled, address, role, inviterAddress } = open
  const reader = await readerOf(store, open, user)
  return {
    state: 'open',
    ...{ projectName, isProjectDisabled, address, role, inviterAddress, reader },
  }
}

async function readerOf(
  store: Base['store'],
  { address, projectId, isMailed }: OpenInvitation,
  user: ReadingUser,
): Promise<Reader> {
  if (user !== undefined) {
    if (user.address !== address) return 'other'
    const bound = boundProjectOf(user)
    return bound === null || bound === projectId || isMailed ? 'invited' : 'bound'
  }
  return (await findUserId(store.read, address)) === undefined ? 'newcomer' : 'known'
}

async function findAccepted(
  { read }: Base['store'],
  token: string,
  { id, address }: NonNullable<ReadingUser>,
): Promise<ShownInvitation | undefined> {
  const accepted = await read
    .select({ projectName: projects.name })
    .from(invitations)
    .innerJoin(projects, and(eq(projects.id, invitations.projectId), isNull(projects.deletedAt)))
    .innerJoin(
      memberships,
      and(eq(memberships.projectId, invitations.projectId), eq(memberships.userId, id)),
    )
    .where(
      and(
        eq(invitations.digest, digestLinkToken(token)),
        eq(invitations.address, address),
        isNotNull(invitations.acceptedAt),
      ),
    )
    .get()
  return accepted && { state: 'accepted', projectName: accepted.projectName, address }
}
