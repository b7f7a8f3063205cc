import { resetExample } from '../../records/project-reset.ts'
import type { Examples } from './operation-example.ts'

const params = { id: '0199a7c0-0000-7000-8000-000000000001' }
/** A project that no other example uses. */
const surplus = { id: '0199a7c0-0000-7000-8000-000000000e01' }

export const erasureExamples: Examples = {
  'GET /users/@me/projects/:id/reset': {
    params,
    status: 200,
    response: {
      success: true,
      data: resetExample,
    },
  },
  'POST /users/@me/projects/:id/reset': {
    params: surplus,
    status: 200,
    response: { success: true, message: 'The project is being reset.' },
  },
  'DELETE /users/@me/projects/:id': {
    params: surplus,
    status: 200,
    response: { success: true, message: 'The project was deleted.' },
  },
}
