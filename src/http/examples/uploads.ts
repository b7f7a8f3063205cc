import { uploadExample as logo } from '../../records/upload.ts'
import type { Examples } from './operation-example.ts'

const name = logo.key

export const uploadExamples: Examples = {
  'POST /uploads/image': {
    request: { image: '(the bytes of logo.png)' },
    status: 200,
    response: logo,
  },
  'GET /uploads': {
    query: { limit: '1' },
    status: 200,
    response: {
      data: [{ ...logo, width: 8, height: 6, createdAt: '2026-11-22T09:30:00.000Z' }],
      cursor: null,
      hasMore: false,
      total: 1,
    },
  },
  'GET /uploads/:name': { params: { name }, status: 200 },
  'DELETE /uploads/:name': { params: { name }, status: 204 },
}
