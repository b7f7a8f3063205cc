/** The members of a project, and invitations to people without an account. */
import { z } from 'zod'
import { inviteMember } from '../../../features/tenancy/accounts/invitations/invite.ts'
import { listInvitations } from '../../../features/tenancy/accounts/invitations/open.ts'
import { revokeInvitation } from '../../../features/tenancy/accounts/invitations/revoke.ts'
import {
  changeRole,
  deleteMember,
  listMembers,
} from '../../../features/tenancy/accounts/members/members.ts'
import { enveloped, messageResult } from '../../../records/envelope.ts'
import {
  invitationExample,
  invitationRecord,
  invited,
  listedMember,
  memberExample,
  memberRecord,
  newMember,
  ownerExample,
  roleChange,
} from '../../../records/member.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { json, noContent } from '../../response.ts'
import { memberOperation, type RouteDeps } from '../../route.ts'

const shared = {
  tag: 'Members',
  tagText: 'The people of a project, and invitations to others.',
} as const

export const list = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'List the members of a project, oldest first',
    answerBytes: RECORD_ANSWER_BYTES,
    responses: { 200: { description: 'All members', schema: enveloped(z.array(listedMember)) } },
    refusals: [403, 404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
      status: 200,
      response: { success: true, data: [ownerExample, memberExample] },
    }),
    handle: async ({ project }) =>
      largeJson(200, { success: true, data: await listMembers(core, project.id) }),
  })

export const add = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Invite a member',
    description:
      'The invitation is open for 7 days, and membership begins when it is accepted. The response is ' +
      'the same whether the address has an account or not. Who is a member of the project already is a ' +
      '409. The link is mailed if the server has mail for its users; the newest invitation of an ' +
      'address replaces older ones. A project can invite 50 times a day, and mail an address 3 times an ' +
      'hour.',
    body: newMember,
    names: { record: listedMember },
    responses: {
      200: { description: 'Invited', schema: enveloped(invited) },
    },
    refusals: [404, 409],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
      request: { email: 'bea@example.com', role: 'ADMIN' },
      status: 200,
      response: {
        success: true,
        data: { invited: true, email: 'bea@example.com', role: 'ADMIN', url: '…/invitations/…' },
      },
    }),
    handle: async ({ user, project, body }) => {
      const { email, role } = body
      const invitee = { projectId: project.id, address: email.address, role, actorId: user.id }
      return json(200, { success: true, data: await inviteMember(core, invitee) })
    },
  })

export const update = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Change the role of a member',
    description: 'The role of the owner cannot be changed.',
    // The call stores nothing new.
    growsDisk: false,
    body: roleChange,
    names: { record: listedMember },
    responses: { 200: { description: 'Changed', schema: enveloped(memberRecord) } },
    refusals: [404],
    example: () => ({
      params: { ...{ id: '0199a7c0-0000-7000-8000-000000000001' }, userId: memberExample.userId },
      request: { role: 'ADMIN' },
      status: 200,
      response: {
        success: true,
        data: { userId: memberExample.userId, email: 'ann@example.com', role: 'ADMIN' },
      },
    }),
    handle: async ({ user, project, params, body }) => {
      const key = { projectId: project.id, userId: params.userId ?? '' }
      const data = await changeRole(core, key, { role: body.role, actorId: user.id })
      return json(200, { success: true, data })
    },
  })

export const remove = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Remove a member, or leave a project',
    description: 'Any member may leave; removing others needs the role ADMIN. The owner stays.',
    responses: {
      200: { description: 'Removed', schema: messageResult },
    },
    refusals: [404],
    example: () => ({
      params: { ...{ id: '0199a7c0-0000-7000-8000-000000000001' }, userId: memberExample.userId },
      status: 200,
      response: { success: true, data: { message: 'The member was removed.' } },
    }),
    handle: async ({ user, project, params }) => {
      await deleteMember(core, { projectId: project.id, userId: params.userId ?? '' }, user.id)
      return json(200, { success: true, data: { message: 'The member was removed.' } })
    },
  })

export const listOpen = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'List the open invitations of a project, newest first',
    answerBytes: RECORD_ANSWER_BYTES,
    responses: {
      200: { description: 'All of them', schema: enveloped(z.array(invitationRecord)) },
    },
    refusals: [403, 404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
      status: 200,
      response: { success: true, data: [invitationExample] },
    }),
    handle: async ({ project }) =>
      largeJson(200, { success: true, data: await listInvitations(core, project.id) }),
  })

export const revoke = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Revoke an invitation',
    responses: { 204: { description: 'Its link does not work any more' } },
    refusals: [404],
    example: () => ({
      params: {
        ...{ id: '0199a7c0-0000-7000-8000-000000000001' },
        invitationId: invitationExample.id,
      },
      status: 204,
    }),
    handle: async ({ user, project, params }) => {
      const key = { projectId: project.id, id: params.invitationId ?? '' }
      await revokeInvitation(core, key, user.id)
      return noContent()
    },
  })
