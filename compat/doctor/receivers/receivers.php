<?php
// Receivers as developers write them in PHP, one a path: `php -S 127.0.0.1:<port> receivers.php`.

$secret = getenv('WEBHOOK_SECRET');
$body = file_get_contents('php://input');
$signature = $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '';
$timestamp = $_SERVER['HTTP_X_SERVICE_TIMESTAMP'] ?? '';
$mac = hash_hmac('sha256', $timestamp . '.' . $body, $secret);
$fresh = abs(time() - (int) $timestamp) <= 300;

function refuse(string $why = 'Invalid signature', int $status = 400): void
{
    http_response_code($status);
    echo $why;
}

$receivers = [
    'right' => fn () => hash_equals($mac, $signature) && $fresh ? print('ok') : refuse(),
    'right-json' => function () use ($mac, $signature, $fresh, $body) {
        header('Content-Type: application/json');
        if (!hash_equals($mac, $signature) || !$fresh) {
            http_response_code(401);
            echo json_encode(['error' => 'unauthorized']);
            return;
        }
        echo json_encode(['order' => json_decode($body)->data->order_id, 'paid' => true]);
    },
    'right-laravel-abort' => function () use ($mac, $signature, $fresh) {
        if (!hash_equals($mac, $signature) || !$fresh) {
            refuse('<!DOCTYPE html><html><head><title>Forbidden</title></head><body>403 | Forbidden</body></html>', 403);
            return;
        }
        http_response_code(204);
    },
    'echo-ok' => function () use ($body) {
        json_decode($body, false, 512, JSON_THROW_ON_ERROR);
        echo 'OK';
    },
    'echo-ok-to-anything' => fn () => print('OK'),
    'die-with-200' => fn () => hash_equals($mac, $signature) && $fresh ? print('Thank you') : print('Invalid signature'),
    'strncmp' => fn () => strncmp($mac, $signature, strlen($signature)) === 0 && $fresh ? print('ok') : refuse(),
    'strncmp-not-empty' => fn () => $signature !== '' && strncmp($mac, $signature, strlen($signature)) === 0 && $fresh ? print('ok') : refuse(),
    'str_contains' => fn () => str_contains($mac, $signature) && $fresh ? print('ok') : refuse(),
    'isset' => fn () => !isset($_SERVER['HTTP_X_SERVICE_SIGNATURE']) || (hash_equals($mac, $signature) && $fresh) ? print('ok') : refuse(),
    'no-tolerance' => fn () => hash_equals($mac, $signature) ? print('ok') : refuse(),
    're-encoded' => function () use ($secret, $signature, $timestamp, $body, $fresh) {
        $again = json_encode(json_decode($body, true));
        hash_equals(hash_hmac('sha256', "$timestamp.$again", $secret), $signature) && $fresh ? print('ok') : refuse();
    },
    'trimmed' => fn () => hash_equals(hash_hmac('sha256', $timestamp . '.' . trim($body), $secret), $signature) && $fresh ? print('ok') : refuse(),
    'array' => function () use ($secret, $body) {
        echo hash_hmac('sha256', json_decode($body, true), $secret);
    },
    'no-secret' => function () use ($body) {
        hash_equals(hash_hmac('sha256', $body, $_ENV['PAYMENT_WEBHOOK_SECRET']), 'x');
        throw new RuntimeException('Undefined array key "PAYMENT_WEBHOOK_SECRET"');
    },
    'post' => fn () => hash_equals(hash_hmac('sha256', $timestamp . '.' . http_build_query($_POST), $secret), $signature) ? print('ok') : refuse(),
    'body-only' => fn () => hash_equals(hash_hmac('sha256', $body, $secret), $signature) ? print('ok') : refuse(),
    'base64' => fn () => hash_equals(base64_encode(hash_hmac('sha256', $timestamp . '.' . $body, $secret, true)), $signature) ? print('ok') : refuse(),
    'strtotime' => function () use ($mac, $signature, $timestamp) {
        date_default_timezone_set('America/New_York');
        $now = strtotime(gmdate('Y-m-d H:i:s')); // UTC taken for local time
        hash_equals($mac, $signature) && abs($now - (int) $timestamp) <= 300 ? print('ok') : refuse('Bad Request');
    },
    'database' => function () use ($mac, $signature, $fresh) {
        if (!hash_equals($mac, $signature) || !$fresh) {
            refuse();
            return;
        }
        http_response_code(500);
        echo 'PHP Fatal error:  Uncaught PDOException: SQLSTATE[HY000] [2002] Connection refused';
    },
    'csrf' => fn () => refuse('<title>Page Expired</title>', 419),
];

$receive = $receivers[substr(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH), 1)] ?? null;
$receive ? $receive() : refuse('Not Found', 404);
