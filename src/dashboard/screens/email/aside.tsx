/** Beside the story: facts, a text for the customer, and other mail to the same address. */
import { useState } from 'preact/hooks'
import { useCall } from '../../api/queries.ts'
import {
  CUSTOMER_LANGUAGES,
  type CustomerLanguage,
  customerLanguage,
  customerText,
} from '../../logic/customer-text.ts'
import { emailsPath } from '../../logic/email-links.ts'
import { type EmailState, isWaiting, stateOf, toneOf } from '../../logic/email-state.ts'
import { visible } from '../../logic/visible.ts'
import { LANGUAGES, locale, t } from '../../text/text.ts'
import { Copy } from '../../ui/copy.tsx'
import { link } from '../../ui/link.ts'
import { Failed, Loading } from '../../ui/state.tsx'
import { Status } from '../../ui/status.tsx'
import { place, Time } from '../../ui/time.tsx'
import type { EmailRecord } from './record.ts'

/** The receiver of mail to a domain of no known provider. */
const OTHER = 'Other'

type AsideProps = { email: EmailRecord; state: EmailState }

export function Aside({ email, state }: AsideProps) {
  return (
    <aside class="section aside">
      <Facts {...{ email, state }} />
      {email.sourceType !== 'INBOUND' && <ForCustomer {...{ email, state }} />}
      <Others email={email} />
    </aside>
  )
}

function domainOf({ recipientAddress }: EmailRecord): string {
  return recipientAddress.slice(recipientAddress.lastIndexOf('@') + 1)
}

/** The name that people know. */
function knownName(email: EmailRecord): string {
  return email.receiver === OTHER ? domainOf(email) : email.receiver
}

function Facts({ email, state }: AsideProps) {
  const { campaignId, workflow, attachments, warnings, templateFaults, messageId, id } = email
  const files = attachments ?? []
  const isSent = email.sourceType !== 'INBOUND'
  return (
    <dl class="facts">
      <dt>{t('facts.state')}</dt>
      <dd>
        <Status tone={toneOf(state)}>{t(`email.${state}`)}</Status>
      </dd>
      {email.isTest && (
        <>
          <dt>{t('emails.test')}</dt>
          <dd>{t('facts.test')}</dd>
        </>
      )}
      {isSent && <Receiver email={email} />}
      {campaignId !== null && (
        <>
          <dt>{t('facts.campaign')}</dt>
          <dd>
            <CampaignLink id={campaignId} />
          </dd>
        </>
      )}
      {workflow !== null && (
        <>
          <dt>{t('facts.workflow')}</dt>
          <dd>
            {workflow.name}
            {workflow.stepName !== null && ` · ${workflow.stepName}`}
          </dd>
        </>
      )}
      {isSent && (
        <>
          <dt>{t('facts.attempts')}</dt>
          <dd>{email.attempts.filter(({ result }) => !result.startsWith('reported-')).length}</dd>
        </>
      )}
      <dt>{t('facts.accepted')}</dt>
      <dd>
        <Time at={email.createdAt} form="second" />
      </dd>
      {isWaiting(state) && (
        <>
          <dt>{t('facts.givesUp')}</dt>
          <dd>
            <Time at={email.giveUpAt} form="minute" />
          </dd>
        </>
      )}
      {files.length > 0 && (
        <>
          <dt>{t('facts.attachments')}</dt>
          <dd>{files.map(({ filename }) => visible(filename)).join(', ')}</dd>
        </>
      )}
      {warnings.length > 0 && (
        <>
          <dt>{t('facts.warnings')}</dt>
          <dd lang="en">{warnings.map(visible).join(' ')}</dd>
        </>
      )}
      {templateFaults.length > 0 && (
        <>
          <dt>{t('facts.templateFaults')}</dt>
          <dd lang="en">
            {templateFaults.map(({ part, line, message }) => (
              <p key={`${part} ${line} ${message}`}>
                {part}
                {line !== null && `:${line}`} {visible(message)}
              </p>
            ))}
          </dd>
        </>
      )}
      <dt>{t('facts.messageId')}</dt>
      <dd class="mono xs">
        {visible(messageId)} <Copy text={messageId} label={t('facts.copyMessageId')} isIcon />
      </dd>
      <dt>{t('facts.id')}</dt>
      <dd class="mono xs">
        {id} <Copy text={id} label={t('facts.copyId')} isIcon />
      </dd>
    </dl>
  )
}

function Receiver({ email }: { email: EmailRecord }) {
  return (
    <>
      <dt>{t('facts.receiver')}</dt>
      <dd>
        <a href={link(emailsPath({ domain: domainOf(email) }))}>{domainOf(email)}</a>
        {email.receiver !== OTHER && (
          <>
            {' '}
            <a href={link(emailsPath({ receiver: email.receiver }))}>{email.receiver}</a>
          </>
        )}
      </dd>
    </>
  )
}

function CampaignLink({ id }: { id: string }) {
  const { data } = useCall('GET /campaigns/{id}', { params: { id } })
  return <a href={link(`/emails?campaign=${id}`)}>{data?.data.name ?? id}</a>
}

function ForCustomer({ email, state }: AsideProps) {
  const contact = useCall('GET /contacts/{id}', { params: { id: email.contactId } })
  const [chosen, setChosen] = useState<CustomerLanguage>()
  const own = contact.data?.data?.locale
  const language = chosen ?? customerLanguage(own ?? locale())
  const text = customerText(
    {
      ...{ state, reasonCode: email.reasonCode, subject: email.subject },
      ...{ acceptedAt: email.createdAt, deliveredAt: email.deliveredAt ?? email.sentAt },
      ...{ giveUpAt: email.giveUpAt, receiver: knownName(email), timeZone: place().timeZone },
    },
    language,
  )
  return (
    <section>
      <h2>{t('customer.title')}</h2>
      <p class="small muted">{t('customer.hint')}</p>
      <p class="quote small" lang={language}>
        {visible(text)}
      </p>
      <div class="row">
        <Copy text={text} />
        <label class="row small">
          <span class="sr">{t('customer.language')}</span>
          <select
            class="input"
            value={language}
            onChange={({ currentTarget }) => setChosen(currentTarget.value as CustomerLanguage)}
          >
            {CUSTOMER_LANGUAGES.map((one) => (
              <option key={one} value={one}>
                {LANGUAGES[one]}
              </option>
            ))}
          </select>
        </label>
      </div>
    </section>
  )
}

const SHOWN_OTHERS = 5

function Others({ email: { id, contactId, recipientAddress } }: { email: EmailRecord }) {
  const { data, error, refetch } = useCall('GET /emails', {
    query: { contactId, limit: SHOWN_OTHERS + 1 },
  })
  const rows = data?.data.filter((row) => row.id !== id).slice(0, SHOWN_OTHERS)
  return (
    <section>
      <h2>{t('others.title')}</h2>
      {error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={2} />}
      {rows?.length === 0 && <p class="small muted">{t('others.none')}</p>}
      <ul class="small">
        {rows?.map((row) => (
          <li key={row.id} class="row between">
            <a class="cut" href={link(`/emails/${row.id}`)}>
              {row.subject === '' ? t('emails.noSubject') : visible(row.subject)}
            </a>
            <Status tone={toneOf(stateOf(row))}>{t(`email.${stateOf(row)}`)}</Status>
          </li>
        ))}
      </ul>
      {data?.hasMore && (
        <p class="small">
          <a href={link(`/emails?q=${encodeURIComponent(recipientAddress)}`)}>{t('others.all')}</a>
        </p>
      )}
    </section>
  )
}
