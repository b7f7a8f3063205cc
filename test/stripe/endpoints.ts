/** The endpoints of Stripe that this program may call, with the interfaces of their parameters. */
type Endpoint = {
  method: string
  path: RegExp
  /** The file below `resources` of the package, and the interface in it. */
  file: string
  name: string | undefined
}

const ID = '[A-Za-z0-9_]+'

export const ENDPOINTS: readonly Endpoint[] = [
  endpoint('POST', 'checkout/sessions', 'Checkout/Sessions', 'Checkout.SessionCreateParams'),
  endpoint('GET', `checkout/sessions/${ID}`, 'Checkout/Sessions', 'Checkout.SessionRetrieveParams'),
  endpoint(
    'POST',
    'billing_portal/sessions',
    'BillingPortal/Sessions',
    'BillingPortal.SessionCreateParams',
  ),
  endpoint('GET', `customers/${ID}`, 'Customers', 'CustomerRetrieveParams'),
  endpoint('GET', `subscriptions/${ID}`, 'Subscriptions', 'SubscriptionRetrieveParams'),
  endpoint('DELETE', `subscriptions/${ID}`, 'Subscriptions', 'SubscriptionCancelParams'),
  endpoint('GET', 'invoices', 'Invoices', 'InvoiceListParams'),
  endpoint('POST', 'invoices/create_preview', 'Invoices', 'InvoiceCreatePreviewParams'),
  endpoint('GET', `invoices/${ID}`, 'Invoices', 'InvoiceRetrieveParams'),
  endpoint('GET', 'billing/meters', 'Billing/Meters', 'Billing.MeterListParams'),
  endpoint('GET', `billing/meters/${ID}`, 'Billing/Meters', 'Billing.MeterRetrieveParams'),
  endpoint(
    'GET',
    `billing/meters/${ID}/event_summaries`,
    'Billing/Meters',
    'Billing.MeterListEventSummariesParams',
  ),
  endpoint('POST', 'billing/meter_events', 'Billing/MeterEvents', 'Billing.MeterEventCreateParams'),
]

export function findEndpoint(method: string, path: string): Endpoint | undefined {
  return ENDPOINTS.find((one) => one.method === method && one.path.test(path))
}

function endpoint(method: string, path: string, file: string, name: string): Endpoint {
  return { method, path: new RegExp(`^/v1/${path}$`), file, name }
}
