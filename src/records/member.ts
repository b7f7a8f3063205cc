/** Members of projects in the API: the record, invitations, and the requests that invite people and change roles. */
import { z } from 'zod'
import { emailAddress, instant } from './fields.ts'
import { GIVEN_ROLES, ROLES } from './words.ts'

const role = z.enum(ROLES)
const givenRole = z.enum(GIVEN_ROLES)

export const memberRecord = z
  .object({ userId: z.string(), email: z.string(), role })
  .meta({ id: 'ProjectMember' })

export const listedMember = z
  .object({
    userId: z.string(),
    email: z.string(),
    emailVerified: z.boolean().meta({
      description: 'False while nothing proves that the address belongs to the user',
    }),
    role,
    createdAt: instant,
  })
  .meta({ id: 'ListedProjectMember' })

export type ListedMember = z.output<typeof listedMember>

export const invitedRecord = z
  .object({
    invited: z.literal(true),
    email: z.string(),
    role: givenRole,
    url: z.string().optional().meta({
      description: 'The link of the invitation, if the server has no mail for its users',
    }),
  })
  .meta({ id: 'Invited' })

export const invitationRecord = z
  .object({
    id: z.string(),
    email: z.string(),
    role: givenRole,
    invitedBy: z.string().meta({ description: 'The address of the user who invites' }),
    createdAt: instant,
    expiresAt: instant,
  })
  .meta({ id: 'Invitation' })

export type InvitationRecord = z.output<typeof invitationRecord>

export const newMember = z.object({ email: emailAddress, role: givenRole.default('MEMBER') })
export const roleChange = z.object({ role: givenRole })
