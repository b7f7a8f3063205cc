/**
 * Tells systemd about the service (sd_notify(3)) through the program `systemd-notify`, because Node has no
 * datagram sockets of the Unix domain. Without NOTIFY_SOCKET nothing happens.
 */
import { spawn } from 'node:child_process'
import { describeError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'

export type ServiceNotifier = {
  /** Sends assignments such as `READY=1`. Returns at once; a failure is logged, the first one only. */
  send(...assignments: string[]): void
}

type NotifierDeps = { env: NodeJS.ProcessEnv; log: Pick<Log, 'warn'> }

const PROGRAM = 'systemd-notify'

export function createServiceNotifier({ env, log }: NotifierDeps): ServiceNotifier {
  const { NOTIFY_SOCKET, PATH } = env
  let isFailureLogged = false

  function fail(error: string): void {
    if (isFailureLogged) return
    isFailureLogged = true
    log.warn({ error }, `${PROGRAM} failed: systemd does not learn the state of the server`)
  }

  function start(assignments: readonly string[], socket: string): void {
    const child = spawn(PROGRAM, assignments, {
      env: { NOTIFY_SOCKET: socket, ...(PATH === undefined ? {} : { PATH }) },
      stdio: 'ignore',
    })
    child.on('error', (error) => fail(describeError(error)))
    child.on('exit', (status) => {
      if (status !== 0) fail(`it ended with status ${status}`)
    })
    child.unref()
  }

  return {
    send(...assignments) {
      if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === '') return
      try {
        start(assignments, NOTIFY_SOCKET)
      } catch (error) {
        // Without memory for another process, Node throws.
        fail(describeError(error))
      }
    },
  }
}
