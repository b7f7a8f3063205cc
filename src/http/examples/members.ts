import {
  invitationExample as invitation,
  memberExample as member,
  ownerExample as owner,
} from '../../records/member.ts'
import type { Examples } from './operation-example.ts'

const project = { id: '0199a7c0-0000-7000-8000-000000000001' }
const ann = member.userId

export const memberExamples: Examples = {
  'POST /projects/:id/members': {
    params: project,
    request: { email: 'bea@example.com', role: 'ADMIN' },
    status: 200,
    response: {
      success: true,
      data: {
        invited: true,
        email: 'bea@example.com',
        role: 'ADMIN',
        url: '…/invitations/…',
      },
    },
  },
  'GET /projects/:id/invitations': {
    params: project,
    status: 200,
    response: {
      success: true,
      data: [invitation],
    },
  },
  'DELETE /projects/:id/invitations/:invitationId': {
    params: { ...project, invitationId: invitation.id },
    status: 204,
  },
  'POST /auth/accept-invitation': {
    request: {
      token: '7f0d5f0c1f4bb6a1c5e0e6b0d3a2c49f7f0d5f0c1f4bb6a1c5e0e6b0d3a2c49f',
      password: 'correct horse battery staple',
    },
    status: 200,
    response: {
      success: true,
      data: {
        id: ann,
        email: 'ann@example.com',
        projectId: '0199a7c0-0000-7000-8000-000000000001',
        role: 'MEMBER',
      },
    },
  },
  'GET /projects/:id/members': {
    params: project,
    status: 200,
    response: {
      success: true,
      data: [owner, member],
    },
  },
  'PATCH /projects/:id/members/:userId': {
    params: { ...project, userId: ann },
    request: { role: 'ADMIN' },
    status: 200,
    response: { success: true, data: { userId: ann, email: 'ann@example.com', role: 'ADMIN' } },
  },
  'DELETE /projects/:id/members/:userId': {
    params: { ...project, userId: ann },
    status: 200,
    response: { success: true, data: { message: 'The member was removed.' } },
  },
}
