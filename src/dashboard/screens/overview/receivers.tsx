/** Where the mail of the range went, and what each receiver does now. */
import { useCall } from '../../api/queries.ts'
import { type EmailLink, emailsPath } from '../../logic/email-links.ts'
import { formatDigits, formatNumber } from '../../logic/format.ts'
import { listReceiverRows, type ReceiverRow } from '../../logic/receivers.ts'
import { locale, t } from '../../text/text.ts'
import { link } from '../../ui/link.ts'
import { Panel } from '../../ui/panel.tsx'
import { Status } from '../../ui/status.tsx'
import { PANEL_MS, useReceivers } from './facts.ts'
import { receiverName } from './receiver-name.ts'

const SHOWN = 6

type ReceiversProps = {
  asked: { from: string; to: string; tz: string }
  days: EmailLink
}

export function Receivers({ asked, days }: ReceiversProps) {
  const query = useCall(
    'GET /analytics/deliverability',
    { query: asked },
    { poll: PANEL_MS, keep: true },
  )
  const standings = useReceivers()
  return (
    <section class="section">
      <h2>{t('goes.title')}</h2>
      <Panel query={query} rows={5}>
        {({ providers }) => {
          const { rows, further } = listReceiverRows(providers, standings.data, SHOWN)
          if (rows.length === 0) return <p class="muted">{t('goes.none')}</p>
          return (
            <table>
              <thead>
                <tr>
                  <th scope="col">{t('goes.receiver')}</th>
                  <th scope="col" class="num">
                    {t('figure.sent')}
                  </th>
                  <th scope="col" class="num p2">
                    {t('figure.delivered')}
                  </th>
                  <th scope="col" class="num p2">
                    {t('figure.opened')}
                  </th>
                  <th scope="col">{t('goes.now')}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <tr key={row.name}>
                    <td>
                      <a href={link(emailsPath({ receiver: row.name, ...days }))}>
                        {receiverName(row.name)}
                      </a>
                    </td>
                    <Rates {...row} />
                    <td>
                      <Now now={row.now} />
                    </td>
                  </tr>
                ))}
                {further !== undefined && (
                  <tr>
                    <td>{t('goes.others', { count: further.count })}</td>
                    <Rates {...further} />
                    <td />
                  </tr>
                )}
              </tbody>
            </table>
          )
        }}
      </Panel>
    </section>
  )
}

function Rates({
  sent,
  deliveryRate,
  openRate,
}: Pick<ReceiverRow, 'sent' | 'deliveryRate' | 'openRate'>) {
  return (
    <>
      <td class="num">{formatNumber(sent, locale())}</td>
      <td class="num p2">{percent(deliveryRate, 1)}</td>
      <td class="num p2">{percent(openRate, 0)}</td>
    </>
  )
}

function percent(value: number | undefined, digits: number): string {
  if (value === undefined) return '–'
  return `${formatDigits(value, locale(), digits)} %`
}

function Now({ now }: Pick<ReceiverRow, 'now'>) {
  if (now === undefined) return <Status tone="off">{t('goes.unknown')}</Status>
  if (now === null || now.state === 'open') return <Status tone="good">{t('goes.open')}</Status>
  const { state, messagesPerMinute } = now
  if (state === 'slowed' && messagesPerMinute !== null) {
    return <Status tone="warn">{t('goes.slowed.to', { count: messagesPerMinute })}</Status>
  }
  return <Status tone={state === 'slowed' ? 'warn' : 'bad'}>{t(`goes.${state}`)}</Status>
}
