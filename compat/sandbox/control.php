<?php
// Drives the sandbox through its control routes alone: `merchant-payments exec -- php control.php`.
function control(string $method, string $path, ?array $body = null): array
{
    $http = ['method' => $method, 'ignore_errors' => true];
    if ($body !== null) {
        $http += ['header' => 'content-type: application/json', 'content' => json_encode($body)];
    }
    $text = file_get_contents(getenv('SANDBOX_URL') . "/_sandbox$path", false, stream_context_create(['http' => $http]));
    return json_decode($text, true);
}

function expect(mixed $actual, mixed $expected): void
{
    if ($actual !== $expected) {
        fwrite(STDERR, json_encode($actual) . ' instead of ' . json_encode($expected) . "\n");
        exit(1);
    }
}

$paid = control('POST', '/trigger');
expect($paid['order']['amount'], '19.90');
expect(control('GET', '/events?wait=5s')['events'][0]['id'], $paid['event']['id']);
expect(control('POST', '/balance', ['settle' => true])['available'], '19.90');
control('POST', '/faults', ['status' => 503]);
expect(count(control('GET', '/faults')['faults']), 1);
expect(control('POST', '/faults', ['clear' => true])['faults'], []);
control('DELETE', '/state?seed=1');
expect(control('GET', '/state')['orders'], []);
echo "php: the control routes respond\n";
