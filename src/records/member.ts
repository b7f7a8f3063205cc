/** Members of projects in the API, invitations to projects, and the requests that write them. */
import { z } from 'zod'
import { emailAddress, instant } from './fields.ts'
import { role } from './project.ts'
import { GIVEN_ROLES } from './words.ts'

/** A role that a request can give to a member. */
export type GivenRole = (typeof GIVEN_ROLES)[number]

const givenRole = z.enum(GIVEN_ROLES)

export const newMember = z.object({ email: emailAddress, role: givenRole.default('MEMBER') })
export const roleChange = z.object({ role: givenRole })

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

export const invited = z
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

export const invitationAcceptance = z.object({
  token: z.string().length(64).meta({ description: 'From the link of the invitation' }),
  password: z
    .string()
    .optional()
    .meta({ description: 'For the new account; 6 to 1,000 characters' }),
})

export const acceptedInvitation = z
  .object({
    id: z.string().meta({ description: 'The id of the user' }),
    email: z.string(),
    projectId: z.string(),
    role,
  })
  .meta({ id: 'AcceptedInvitation' })

export type MemberRecord = z.output<typeof memberRecord>
export type ListedMember = z.output<typeof listedMember>
export type Invited = z.output<typeof invited>
export type InvitationRecord = z.output<typeof invitationRecord>

export const invitationExample: InvitationRecord = {
  id: '0199a7c0-0000-7000-8000-000000000a02',
  email: 'bea@example.com',
  role: 'ADMIN',
  invitedBy: '…@people.test',
  createdAt: '2026-11-22T09:30:00.000Z',
  expiresAt: '2026-11-29T09:30:00.000Z',
}

export const ownerExample: ListedMember = {
  userId: '0199a7c0-0000-7000-8000-000000000a04',
  email: '…@people.test',
  emailVerified: true,
  role: 'OWNER',
  createdAt: '2026-11-21T12:00:00.000Z',
}

export const memberExample: ListedMember = {
  userId: '0199a7c0-0000-7000-8000-000000000a03',
  email: 'ann@example.com',
  emailVerified: false,
  role: 'MEMBER',
  createdAt: '2026-11-22T09:30:00.000Z',
}
