/** smtp-server with guarded sessions, on one address of a service. */
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import type { CertificatePair } from '../config/certificates/watch.ts'
import type { ListenAddress } from '../config/config.ts'
import { GuardedConnection } from './guarded-connection.ts'
import type { Sessions } from './sessions.ts'

export type GuardedOptions = SMTPServerOptions & { name: string }

export class GuardedServer extends SMTPServer {
  readonly sessions: Sessions

  constructor(options: GuardedOptions, sessions: Sessions) {
    super({ ...commonOptions, socketTimeout: sessions.limits.commandMs, ...options })
    this.sessions = sessions
  }

  override connect(socket: Socket | TLSSocket, options?: SMTPConnectionOptions | null): void {
    const connection = new GuardedConnection(this, socket, options)
    const refusal = this.sessions.refuse(connection.remoteAddress)
    if (refusal !== undefined) {
      turnAway(socket, refusal)
      return
    }
    this.sessions.add(connection)
    this.connections.add(connection)
    connection.on('error', (error: Error) => this._onError(error))
    connection.init()
  }

  /** The address as it is then. @throws Error when it cannot be listened on */
  async bind({ host, port, isTls }: ListenAddress): Promise<ListenAddress> {
    const listener = this.listen(port, host)
    await once(listener, 'listening')
    const bound = listener.address() as AddressInfo
    return { host: bound.address, port: bound.port, isTls }
  }

  /** For handshakes to come. */
  renew(pair: CertificatePair): void {
    this.updateSecureContext(pair)
  }
}

const commonOptions: SMTPServerOptions = {
  logger: false,
  banner: 'Pillarbox',
  heloResponse: '%s',
  disableReverseLookup: true,
  hideENHANCEDSTATUSCODES: false,
  // What people write before the @ is theirs; whom we take mail for is decided by our own parser.
  lenientAddressParsing: true,
  minVersion: 'TLSv1.2',
}

/** No more is said to it, and nothing read. */
function turnAway(socket: Socket | TLSSocket, text: string): void {
  socket.on('error', () => socket.destroy())
  socket.write(`421 ${text}\r\n`)
  socket.destroySoon()
}
