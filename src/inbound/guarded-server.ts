/** An smtp-server with guarded sessions, on one address of a service. */
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import type { CertificatePair } from '../config/certificates/watch.ts'
import type { ListenAddress } from '../config/config.ts'
import { GuardedConnection } from './guarded-connection.ts'
import type { Sessions } from './sessions.ts'

type GuardedOptions = SMTPServerOptions & { name: string }

export class GuardedServer extends SMTPServer {
  readonly sessions: Sessions

  constructor(options: GuardedOptions, sessions: Sessions) {
    super({ ...COMMON_OPTIONS, socketTimeout: sessions.limits.commandMs, ...options })
    this.sessions = sessions
  }

  override connect(socket: Socket | TLSSocket, options?: SMTPConnectionOptions | null): void {
    const connection = new GuardedConnection(this, this.sessions, socket, options)
    const refusal = this.sessions.refuse(connection.remoteAddress)
    if (refusal !== undefined) {
      refuseConnection(socket, refusal)
      return
    }
    this.sessions.add(connection)
    this.connections.add(connection)
    connection.on('error', (error: Error) => this._onError(error))
    connection.init()
  }

  /** Returns the address with its actual port. @throws Error if it cannot listen there */
  async bind({ host, port, isTls }: ListenAddress): Promise<ListenAddress> {
    const listener = this.listen(port, host)
    await once(listener, 'listening')
    const bound = listener.address() as AddressInfo
    return { host: bound.address, port: bound.port, isTls }
  }

  /** Uses the pair for all later handshakes. */
  renew(pair: CertificatePair): void {
    this.updateSecureContext(pair)
  }
}

const COMMON_OPTIONS: SMTPServerOptions = {
  logger: false,
  banner: 'Pillarbox',
  heloResponse: '%s',
  disableReverseLookup: true,
  hideENHANCEDSTATUSCODES: false,
  // Accepts any local part: `parseAddress` decides which addresses are valid.
  lenientAddressParsing: true,
  minVersion: 'TLSv1.2',
}

/** Sends a refusal and closes the connection without reading from it. */
function refuseConnection(socket: Socket | TLSSocket, text: string): void {
  socket.on('error', () => socket.destroy())
  socket.write(`421 ${text}\r\n`)
  socket.destroySoon()
}
