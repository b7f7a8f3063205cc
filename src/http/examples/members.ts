import type { Examples } from './operation-example.ts'

const project = { id: '0199a7c0-0000-7000-8000-000000000001' }
const ann = '0199a7c0-0000-7000-8000-000000000a03'

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
      data: [
        {
          id: '0199a7c0-0000-7000-8000-000000000a02',
          email: 'bea@example.com',
          role: 'ADMIN',
          invitedBy: '…@people.test',
          createdAt: '2026-11-22T09:30:00.000Z',
          expiresAt: '2026-11-29T09:30:00.000Z',
        },
      ],
    },
  },
  'DELETE /projects/:id/invitations/:invitationId': {
    params: { ...project, invitationId: '0199a7c0-0000-7000-8000-000000000a02' },
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
      data: [
        {
          userId: '0199a7c0-0000-7000-8000-000000000a04',
          email: '…@people.test',
          emailVerified: true,
          role: 'OWNER',
          createdAt: '2026-11-21T12:00:00.000Z',
        },
        {
          userId: ann,
          email: 'ann@example.com',
          emailVerified: false,
          role: 'MEMBER',
          createdAt: '2026-11-22T09:30:00.000Z',
        },
      ],
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
