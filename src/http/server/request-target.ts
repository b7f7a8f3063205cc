/** Checks the path and query of a request as they were sent, before routing decodes them. */
import type { IncomingMessage } from 'node:http'
import { AppError } from '../../errors.ts'

/** @throws AppError BAD_REQUEST for broken percent-encoding in the path or query */
export function refuseUnreadableTarget({ url = '' }: IncomingMessage): void {
  if (!url.includes('%')) return
  const [path = ''] = url.split('?', 1)
  refuseUnreadable('path', path)
  refuseUnreadable('query', url.slice(path.length))
}

function refuseUnreadable(part: 'path' | 'query', encoded: string): void {
  try {
    decodeURIComponent(encoded)
  } catch (cause) {
    throw new AppError('BAD_REQUEST', `The percent-encoding of the ${part} is broken.`, { cause })
  }
}
