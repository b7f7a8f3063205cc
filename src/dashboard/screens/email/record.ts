import type { Answer } from '../../api/client.ts'

/** An email with its attempts, its events and the reason for where it is. */
export type EmailRecord = Answer<'GET /emails/{id}'>
