/** The path of a request as it was sent, before anything is made of it. */
import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'

/** @throws AppError BAD_REQUEST for a path whose percent-encoding is broken */
export function refuseUnreadablePath({ url = '' }: IncomingMessage): void {
  const [path = ''] = url.split('?', 1)
  if (!path.includes('%')) return
  try {
    decodeURIComponent(path)
  } catch (cause) {
    throw new AppError('BAD_REQUEST', 'The percent-encoding of the path is broken.', { cause })
  }
}
