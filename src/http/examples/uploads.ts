import type { Examples } from './operation-example.ts'

const name = '06fae2f938e9b245a5cda862a88441d9.png'

const logo = {
  url: `http://localhost:8080/uploads/${name}`,
  key: name,
  filename: 'logo.png',
  contentType: 'image/png',
  size: 98,
}

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
