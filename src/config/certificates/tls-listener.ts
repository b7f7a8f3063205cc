/** The listeners that may have certificates. */
export type TlsListener = 'http' | 'inbound' | 'submission'

export const TLS_LISTENERS: readonly TlsListener[] = ['http', 'inbound', 'submission']
