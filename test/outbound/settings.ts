/** The part of the configuration that outbound reads, with its defaults. */
import type { Config } from '../../src/config/config.ts'

export function deliverySettings(
  changes: Partial<Config['delivery']> = {},
): Pick<Config, 'delivery'> {
  return {
    delivery: {
      mode: 'direct',
      hostname: 'mta.sender.test',
      port: 25,
      sourceAddresses: [],
      publicAddresses: [],
      allowPrivateNetworks: true,
      maxConnections: 200,
      maxConnectionsPerSite: 10,
      messagesPerConnection: 100,
      retrySchedule: [60_000],
      fusePerMinute: 50,
      giveUpAfter: { transactional: 1, workflow: 1, campaign: 1 },
      returnPathDomain: 'bounce.sender.test',
      relay: null,
      ...changes,
    },
  }
}
