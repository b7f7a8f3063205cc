/** What the area of incoming mail hands in: received mail, and notifications of SES. */
import { eachOf, jsonValue } from '../../store/dialect.ts'
import { sql } from '../../store/drizzle.ts'
import {
  inboundMessages,
  inboundReading,
  inboundUsage,
  receivedRecently,
  snsNotifications,
} from '../../store/schema/inbound.ts'
import type { Base } from '../ground/base.ts'
import type { Area } from '../ground/manifest/area.ts'
import { erasedByReset, exported } from '../ground/manifest/table.ts'
import { deleteExpiredInboundMessages } from './receiving/inbound-messages.ts'
import { NOTIFICATIONS } from './sns/processed-messages.ts'

export const incoming: Area<Base> = {
  name: 'incoming',
  loops: [],
  jobs: [
    {
      name: 'delete-expired-received-mail',
      schedule: '20 4 * * *',
      run: deleteExpiredInboundMessages,
    },
  ],
  retentions: [NOTIFICATIONS],
  tables: [
    {
      table: inboundMessages,
      export: exported(inboundMessages, {
        name: 'received',
        condition: (id) => sql`exists (select 1 from ${eachOf(sql`recipients`)}
          where ${jsonValue(sql`value`, 'projectId')} = ${id})`,
      }),
    },
    { table: inboundReading },
    { table: inboundUsage },
    {
      table: receivedRecently,
      erasure: erasedByReset(receivedRecently),
      export: 'counts of the last hour for limits',
    },
    { table: snsNotifications },
  ],
  references: [],
}
