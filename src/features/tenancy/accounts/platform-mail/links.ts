/**
 * Plans the mails with a link: verification, reset, invitation. The token is stored together with
 * the mail. A plan is undefined when the mail has become pointless.
 */
import { and, eq, isNull } from '../../../../store/drizzle.ts'
import { invitations, projects, users } from '../../../../store/schema/accounts.ts'
import { isUndecided } from '../invitations/open.ts'
import { countTokens, digestLinkToken, insertToken, makeLinkToken } from '../links/link-tokens.ts'
import { isProven } from '../users/proof.ts'
import type { MailTexts } from './compose.ts'
import { type PlanDeps, type PlannedWork, planOne } from './plan.ts'
import type { UsableSender } from './sender.ts'

/** The most reset mails to one user in an hour. */
const MAX_RESETS_PER_HOUR = 3

export async function planVerification(
  deps: PlanDeps,
  sender: UsableSender,
  { userId }: { userId: string },
): Promise<PlannedWork | undefined> {
  const user = await deps.store.read.select().from(users).where(eq(users.id, userId)).get()
  if (user === undefined || isProven(user)) return undefined
  const token = makeLinkToken()
  const toMessage = ({ verify, hour }: MailTexts) => ({
    ...{ subject: verify.subject, text: verify.text },
    values: { email: user.address },
    link: { url: `/auth/verify-email?token=${token}`, button: verify.button, life: hour },
  })
  return {
    plans: await planOne(deps, sender, { to: user, isAskedFor: true, toMessage }),
    prepare: async (tx) => {
      await insertToken(tx, { token, userId, purpose: 'verify-email', at: deps.now() })
      return true
    },
  }
}

/** Plans the mail of a reset, if the account has a password. */
export async function planReset(
  deps: PlanDeps,
  sender: UsableSender,
  { address }: { address: string },
): Promise<PlannedWork | undefined> {
  const user = await deps.store.read.select().from(users).where(eq(users.address, address)).get()
  if (user === undefined || user.method !== 'PASSWORD') return undefined
  if (user.isSandbox && deps.config.delivery.mode !== 'sandbox') return undefined
  const token = makeLinkToken()
  const toMessage = ({ reset, hour }: MailTexts) => ({
    ...{ subject: reset.subject, text: reset.text },
    values: { email: user.address },
    link: { url: `/auth/reset-password?token=${token}`, button: reset.button, life: hour },
  })
  return {
    plans: await planOne(deps, sender, { to: user, isAskedFor: true, toMessage }),
    prepare: async (tx) => {
      const given = { userId: user.id, purpose: 'reset-password', at: deps.now() } as const
      if ((await countTokens(tx, given)) >= MAX_RESETS_PER_HOUR) return false
      await insertToken(tx, { token, ...given })
      return true
    },
  }
}

export async function planInvitation(
  deps: PlanDeps,
  sender: UsableSender,
  { invitationId }: { invitationId: string },
): Promise<PlannedWork | undefined> {
  const found = await findInvitation(deps, invitationId)
  if (found === undefined) return undefined
  const { address, project, inviter, language } = found
  const token = makeLinkToken()
  const toMessage = ({ invitation, week }: MailTexts) => ({
    ...{ subject: invitation.subject, text: invitation.text },
    values: { project, person: inviter },
    link: { url: `/invitations/${token}`, button: invitation.button, life: week },
  })
  return {
    plans: await planOne(deps, sender, {
      to: { address, language },
      isAskedFor: false,
      toMessage,
    }),
    prepare: async (tx) => {
      const changed = await tx
        .update(invitations)
        .set({ digest: digestLinkToken(token) })
        .where(and(eq(invitations.id, invitationId), isUndecided()))
        .returning({ id: invitations.id })
      return changed.length > 0
    },
  }
}

/**
 * Finds the invitation of a mail. Its language is that of the invited person's account, or of the
 * inviter if there is none.
 */
async function findInvitation(
  { store, now }: Pick<PlanDeps, 'store' | 'now'>,
  id: string,
): Promise<{ address: string; project: string; inviter: string; language: string } | undefined> {
  const found = await store.read
    .select({
      address: invitations.address,
      expiresAt: invitations.expiresAt,
      project: projects.name,
      inviter: users.address,
      language: users.language,
    })
    .from(invitations)
    .innerJoin(projects, and(eq(projects.id, invitations.projectId), isNull(projects.deletedAt)))
    .innerJoin(users, eq(users.id, invitations.invitedBy))
    .where(and(eq(invitations.id, id), isUndecided()))
    .get()
  if (found === undefined || found.expiresAt <= now()) return undefined
  const invited = await store.read
    .select({ language: users.language })
    .from(users)
    .where(eq(users.address, found.address))
    .get()
  return { ...found, language: invited?.language ?? found.language }
}
